//! A way between worker and server that can be cut: on loopback, a proxy that stops carrying anything; where the machine allows
//! it, two network namespaces with a link between them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A proxy that carries bytes to a port of loopback, unless it is cut. Connections stay open meanwhile, as they do when a cable is
/// pulled: nobody is told.
pub(crate) struct Proxy {
    port: u16,
    cut: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicBool::new(false));
        let carries = Arc::clone(&cut);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                wait_while(&carries);
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let carries = Arc::clone(&carries);
                    thread::spawn(move || carry(from, to, &carries));
                }
            }
        });
        Self { port: own, cut }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::SeqCst);
    }
}

fn wait_while(cut: &AtomicBool) {
    while cut.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(10));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        wait_while(cut);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // The other direction ends with this one.
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Two network namespaces with a link between them; gone when dropped.
pub(crate) struct Namespaces {
    names: [String; 2],
    link: String,
}

/// The addresses of the two ends.
pub(crate) const ENDS: [&str; 2] = ["10.213.7.1", "10.213.7.2"];

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).output().is_ok_and(|output| output.status.success())
}

impl Namespaces {
    /// Makes them; none where the machine does not allow it.
    pub(crate) fn new() -> Option<Self> {
        let id = std::process::id();
        let names = ["a", "b"].map(|end| format!("gipf-{end}{id}"));
        let link = format!("gipf{}", id % 100_000);
        let both = Self { names, link };
        let [a, b] = &both.names;
        let (one, two) = (format!("{}a", both.link), format!("{}b", both.link));
        let made = ip(&["netns", "add", a])
            && ip(&["netns", "add", b])
            && ip(&[
                "link", "add", &one, "netns", a, "type", "veth", "peer", "name", &two, "netns", b,
            ])
            && ip(&["-n", a, "addr", "add", &format!("{}/30", ENDS[0]), "dev", &one])
            && ip(&["-n", b, "addr", "add", &format!("{}/30", ENDS[1]), "dev", &two])
            && ip(&["-n", a, "link", "set", "lo", "up"])
            && ip(&["-n", b, "link", "set", "lo", "up"])
            && ip(&["-n", a, "link", "set", &one, "up"])
            && ip(&["-n", b, "link", "set", &two, "up"]);
        made.then_some(both)
    }

    /// What runs a program in one of them.
    pub(crate) fn inside(&self, end: usize) -> [&str; 4] {
        ["ip", "netns", "exec", &self.names[end]]
    }

    pub(crate) fn cut(&self, cut: bool) {
        let (name, end) = (&self.names[1], format!("{}b", self.link));
        assert!(ip(&["-n", name, "link", "set", &end, if cut { "down" } else { "up" }]));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&["netns", "del", name]);
        }
    }
}
