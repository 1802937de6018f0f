//! A proxy on loopback that cuts connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Hands on everything, but closes a connection instead of handing on the answer to one request.
pub struct Proxy {
    pub endpoint: String,
    /// Beginning of the request whose answer is lost; taken by the first one that begins so.
    cut: Arc<Mutex<Option<&'static str>>>,
}

impl Proxy {
    /// Begins to hand on to an endpoint.
    pub fn start(endpoint: &str) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy =
            Proxy { endpoint: format!("http://{}", listener.local_addr().unwrap()), cut: Arc::new(Mutex::new(None)) };
        let (cut, upstream) = (proxy.cut.clone(), endpoint.trim_start_matches("http://").to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (cut, server) = (cut.clone(), TcpStream::connect(&upstream).unwrap());
                std::thread::spawn(move || hand_on(client, server, &cut));
            }
        });
        proxy
    }

    /// The answer to the next request that begins so gets lost.
    pub fn lose_answer_to(&self, request: &'static str) {
        *self.cut.lock().unwrap() = Some(request);
    }

    /// Whether one was lost.
    pub fn has_lost(&self) -> bool {
        self.cut.lock().unwrap().is_none()
    }
}

fn hand_on(client: TcpStream, server: TcpStream, cut: &Mutex<Option<&'static str>>) {
    let losing = Mutex::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            copy(&client, &server, |bytes| {
                let mut cut = cut.lock().unwrap();
                if cut.is_some_and(|begin| bytes.starts_with(begin.as_bytes())) {
                    *cut = None;
                    *losing.lock().unwrap() = true;
                }
                true
            });
        });
        copy(&server, &client, |_| !*losing.lock().unwrap());
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
