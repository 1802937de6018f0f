//! A proxy on loopback that comes between.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What happens to requests instead of being answered by the server.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Requests that begin so.
    pub begin: &'static str,
    /// How many of them.
    pub times: u32,
    /// What they get: this, or nothing where it is empty, and the connection is closed. Either way the server has them.
    pub answer: &'static str,
}

/// Hands on everything but what a [`Fault`] says.
pub struct Proxy {
    pub endpoint: String,
    fault: Arc<Mutex<Option<Fault>>>,
}

impl Proxy {
    /// Begins to hand on to an endpoint.
    pub fn start(endpoint: &str) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let endpoint_here = format!("http://{}", listener.local_addr().unwrap());
        let proxy = Proxy { endpoint: endpoint_here, fault: Arc::new(Mutex::new(None)) };
        let (fault, upstream) = (proxy.fault.clone(), endpoint.trim_start_matches("http://").to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (fault, server) = (fault.clone(), TcpStream::connect(&upstream).unwrap());
                std::thread::spawn(move || hand_on(&client, &server, &fault));
            }
        });
        proxy
    }

    /// From now on this happens.
    pub fn suffer(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }

    /// How often it has yet to happen.
    pub fn left(&self) -> u32 {
        self.fault.lock().unwrap().map_or(0, |fault| fault.times)
    }
}

fn hand_on(client: &TcpStream, server: &TcpStream, fault: &Mutex<Option<Fault>>) {
    let instead = Mutex::new(None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            copy(client, server, |bytes| {
                let mut fault = fault.lock().unwrap();
                if let Some(fault) = fault.as_mut().filter(|f| f.times > 0 && bytes.starts_with(f.begin.as_bytes())) {
                    fault.times -= 1;
                    *instead.lock().unwrap() = Some(fault.answer);
                }
                true
            });
        });
        copy(server, client, |_| {
            let Some(answer) = *instead.lock().unwrap() else { return true };
            let mut client = client;
            let _ = client.write_all(answer.as_bytes());
            false
        });
    });
}

/// Copies until the end, or until `goes_on` says no; then both connections are closed.
fn copy(mut from: &TcpStream, mut to: &TcpStream, mut goes_on: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !goes_on(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
