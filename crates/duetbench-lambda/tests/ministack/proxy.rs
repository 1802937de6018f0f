//! A proxy on loopback that comes between.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex};

/// A fault that requests meet instead of the server's answer.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Requests that begin so.
    pub begin: &'static str,
    /// Number of requests that meet it.
    pub times: u32,
    /// Their answer, or none where it is empty; then the connection is closed. Either way the server has them.
    pub answer: &'static str,
}

/// Requests that begin so meet this, one after the other and round and round: an answer as of a [`Fault`], or nothing.
#[derive(Clone, Copy)]
pub struct Weather {
    pub begin: &'static str,
    pub turns: &'static [Option<&'static str>],
}

/// Everything that goes wrong.
#[derive(Default)]
struct Trouble {
    fault: Option<Fault>,
    weather: Option<Weather>,
    /// Requests that met the weather.
    met: usize,
}

impl Trouble {
    /// The answer that a request gets instead of the server's.
    fn instead(&mut self, request: &[u8]) -> Option<&'static str> {
        let begins = |begin: &str| request.starts_with(begin.as_bytes());
        if let Some(fault) = self.fault.as_mut().filter(|fault| fault.times > 0 && begins(fault.begin)) {
            fault.times -= 1;
            return Some(fault.answer);
        }
        let weather = self.weather.filter(|weather| begins(weather.begin))?;
        self.met += 1;
        weather.turns[(self.met - 1) % weather.turns.len()]
    }
}

/// Hands on everything but what a [`Fault`] or a [`Weather`] says.
pub struct Proxy {
    pub endpoint: String,
    trouble: Arc<Mutex<Trouble>>,
    meeting: Arc<Mutex<Option<Meeting>>>,
}

/// Requests that begin so are answered here, with an empty object, and not before this many have come.
#[derive(Clone)]
struct Meeting {
    begin: &'static str,
    all: Arc<Barrier>,
}

impl Proxy {
    /// Begins to hand on to an endpoint.
    pub fn start(endpoint: &str) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let endpoint_here = format!("http://{}", listener.local_addr().unwrap());
        let proxy = Proxy { endpoint: endpoint_here, trouble: Arc::default(), meeting: Arc::default() };
        let (trouble, meeting) = (proxy.trouble.clone(), proxy.meeting.clone());
        let upstream = endpoint.trim_start_matches("http://").to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (trouble, meeting, upstream) = (trouble.clone(), meeting.clone(), upstream.clone());
                std::thread::spawn(move || {
                    // Who comes to meet needs no connection to the server, which is slow to take many.
                    if !joins(&client, &meeting, &first_bytes(&client)) {
                        hand_on([&client, &TcpStream::connect(upstream).unwrap()], &trouble, &meeting);
                    }
                });
            }
        });
        proxy
    }

    /// From now on this happens.
    pub fn suffer(&self, fault: Fault) {
        self.trouble.lock().unwrap().fault = Some(fault);
    }

    /// From now on this happens round and round.
    #[allow(dead_code, reason = "not every test suffers it")]
    pub fn weather(&self, weather: Weather) {
        self.trouble.lock().unwrap().weather = Some(weather);
    }

    /// Requests that met the weather so far.
    #[allow(dead_code, reason = "not every test suffers it")]
    pub fn met(&self) -> usize {
        self.trouble.lock().unwrap().met
    }

    /// From now on requests that begin so meet.
    pub fn gather(&self, begin: &'static str, count: usize) {
        *self.meeting.lock().unwrap() = Some(Meeting { begin, all: Arc::new(Barrier::new(count)) });
    }

    /// Times that the fault has yet to happen.
    pub fn left(&self) -> u32 {
        self.trouble.lock().unwrap().fault.map_or(0, |fault| fault.times)
    }
}

/// The first bytes, left to be read.
fn first_bytes(client: &TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    let length = client.peek(&mut bytes).unwrap_or(0);
    bytes.truncate(length);
    bytes
}

/// If the request is to meet: answers it once all are there.
fn joins(mut client: &TcpStream, meeting: &Mutex<Option<Meeting>>, request: &[u8]) -> bool {
    let meeting = meeting.lock().unwrap().clone();
    let Some(meeting) = meeting.filter(|m| request.starts_with(m.begin.as_bytes())) else { return false };
    meeting.all.wait();
    let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    let _ = client.shutdown(Shutdown::Write);
    // Closing with something unread would take the answer away again.
    let _ = client.read_to_end(&mut Vec::new());
    true
}

fn hand_on([client, server]: [&TcpStream; 2], trouble: &Mutex<Trouble>, meeting: &Mutex<Option<Meeting>>) {
    let (instead, meets) = (Mutex::new(None), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            copy(client, server, |bytes| {
                meets.store(true, Relaxed);
                if joins(client, meeting, bytes) {
                    return false;
                }
                meets.store(false, Relaxed);
                if let Some(answer) = trouble.lock().unwrap().instead(bytes) {
                    *instead.lock().unwrap() = Some(answer);
                }
                true
            });
            close([client, server]);
        });
        copy(server, client, |_| {
            let Some(answer) = *instead.lock().unwrap() else { return true };
            let mut client = client;
            let _ = client.write_all(answer.as_bytes());
            false
        });
        // A server closes connections that wait for long, as those do that meet.
        if !meets.load(Relaxed) {
            close([client, server]);
        }
    });
}

fn close(both: [&TcpStream; 2]) {
    for one in both {
        let _ = one.shutdown(Shutdown::Both);
    }
}

/// Copies until the end, or until `goes_on` says no.
fn copy(mut from: &TcpStream, mut to: &TcpStream, mut goes_on: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !goes_on(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
}
