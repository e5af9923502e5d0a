//! The service: its answers, its limits, and that many clients at once are served.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use gipf_player::PlayerFile;
use gipf_player::serve::{Limits, Service, description};
use gipf_player::shipped::Shipped;
use serde_json::{Value, json};

/// A service on a port of its own; it ends with the test program.
fn serve(limits: Limits) -> SocketAddr {
    let shipped = Shipped::named("standard").unwrap();
    let file = PlayerFile::new("shipped:standard", shipped.checkpoint().unwrap());
    let service = Service::new(&file, None, limits).unwrap();
    let (ready, address) = mpsc::channel();
    thread::spawn(move || {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        service.run(here, |address| ready.send(address).unwrap()).unwrap();
    });
    address.recv_timeout(Duration::from_secs(20)).unwrap()
}

/// Sends bytes as they are: status, head and body of the answer.
fn send(address: SocketAddr, request: &[u8]) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

fn post(address: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let (status, head, body) = send(address, &[head.as_bytes(), body.as_bytes()].concat());
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    (status, serde_json::from_str(&body).unwrap())
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let (status, _, body) = send(address, request.as_bytes());
    (status, body)
}

#[test]
fn questions_are_answered() {
    let address = serve(Limits::default());
    let (status, view) =
        post(address, "/api/position", r#"{"rules":"standard","plays":["e1-e2"]}"#);
    assert_eq!((status, &view["decider"]), (200, &json!("b")));
    let (status, player) = get(address, "/api/player");
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_str::<Value>(&player).unwrap()["rules"], json!(["standard"]));
    let game = json!({ "rules": "standard", "plays": ["e1-e2", "e9-e8"] });
    for strength in [1, 10] {
        let best = |seed: u32| {
            let question = json!({ "game": game, "strength": strength, "seed": seed });
            let (status, best) = post(address, "/api/best", &question.to_string());
            assert_eq!((status, &best["done"]), (200, &json!(true)), "{best}");
            let next = json!({ "game": game, "play": best["play"] });
            assert_eq!(post(address, "/api/apply", &next.to_string()).0, 200);
            best["play"].to_string()
        };
        let plays: Vec<String> = (0..8).map(best).collect();
        assert_eq!((0..8).map(best).collect::<Vec<_>>(), plays, "the same seeds");
        // At the lowest strength the play is drawn.
        assert!(strength > 1 || plays.iter().any(|play| *play != plays[0]), "{plays:?}");
    }
    let (status, opinion) =
        post(address, "/api/analysis", &json!({ "game": game, "nodes": 50 }).to_string());
    assert_eq!((status, &opinion["nodes"]), (200, &json!(50)));
    let white = opinion["white"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&white));
    let (_, knows) = post(address, "/api/knows", r#"{"rules":"ultimate"}"#);
    assert_eq!(knows["knows"], false);
    assert!(knows["why"].as_str().unwrap().contains("ultimate"));
    let described: Value = serde_json::from_str(&get(address, "/openapi.json").1).unwrap();
    assert_eq!(described, serde_json::to_value(description()).unwrap());
    assert_eq!(described["paths"].as_object().unwrap().len(), 8);
}

#[test]
fn bad_requests_get_an_error_as_json() {
    let address = serve(Limits { body: 1000, ..Limits::default() });
    let cases = [
        ("/api/position", "", 400, "bad request"),
        ("/api/position", r#"{"rules":"chess"}"#, 400, "chess"),
        ("/api/best", r#"{"game":{"rules":"standard"},"strength":11}"#, 400, "1 to 10"),
        ("/api/best", r#"{"game":{"rules":"ultimate"},"strength":1}"#, 400, "ultimate"),
        ("/api/analysis", r#"{"game":{"rules":"standard"},"nodes":0}"#, 400, "nodes"),
        ("/api/analysis", r#"{"game":{"rules":"standard"},"nodes":1000000}"#, 400, "nodes"),
        ("/api/apply", r#"{"game":{"rules":"standard"},"play":"x-"}"#, 400, "no removal is due"),
        ("/api/nothing", "{}", 404, "/openapi.json"),
        ("/api/player", "{}", 405, "method"),
        ("/openapi.json", "{}", 405, "method"),
    ];
    for (path, body, status, said) in cases {
        let (found, answer) = post(address, path, body);
        assert_eq!(found, status, "{path} {body}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(said), "{path} {body}: {answer}");
    }
    let (status, answer) =
        post(address, "/api/read", &json!({ "text": "x".repeat(2000) }).to_string());
    assert_eq!(status, 413, "{answer}");
    let plain = b"POST /api/position HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(send(address, plain).0, 415);
    // No path is one of the disk.
    for path in [
        "/../Cargo.toml",
        "/etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/index.html",
        "/api/../../Cargo.toml",
        "/.git/config",
    ] {
        let (status, body) = get(address, path);
        assert_eq!(status, 404, "{path}: {body}");
        assert!(serde_json::from_str::<Value>(&body).unwrap()["error"].is_string());
    }
    // What is no HTTP at all is refused, and the service goes on.
    send(address, b"\x16\x03\x01 nonsense\r\n\r\n");
    assert_eq!(get(address, "/api/player").0, 200);
}

#[test]
fn slow_clients_are_cut_off() {
    let address = serve(Limits { arrival: Duration::from_millis(300), ..Limits::default() });
    let started = Instant::now();
    let head = b"POST /api/read HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{";
    assert_eq!(send(address, head).0, 408, "a body that does not come");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"POST /api/read HT").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(started.elapsed() < Duration::from_secs(15), "a head that does not come");
}

/// Resident memory of this process, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

/// 64 clients at once, for `GIPF_SERVE_SECONDS` (a minute in `make soak`), ask everything; nothing fails and memory stays bounded.
#[test]
fn many_clients_at_once_are_served() {
    let seconds = std::env::var("GIPF_SERVE_SECONDS").map_or(4, |text| text.parse().unwrap());
    let address = serve(Limits::default());
    let plays = ["e1-e2", "e9-e8", "b6-b5", "h1-h2", "i5-h5", "a1-b2"];
    let answered = AtomicUsize::new(0);
    let ask = |client: usize, round: usize| {
        let game = json!({ "rules": "standard", "plays": plays[..(client + round) % plays.len()] });
        let (path, body) = match (client + round) % 4 {
            0 => {
                ("/api/best", json!({ "game": game, "strength": 1 + (round % 10), "seed": client }))
            }
            1 => ("/api/analysis", json!({ "game": game, "nodes": 100 })),
            2 => ("/api/position", game),
            _ => ("/api/write", game),
        };
        let (status, answer) = post(address, path, &body.to_string());
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answered.fetch_add(1, Ordering::Relaxed);
    };
    // Every session has been used once before memory is looked at.
    thread::scope(|scope| (0..64).for_each(|client| drop(scope.spawn(move || ask(client, 0)))));
    let (before, end) = (memory(), Instant::now() + Duration::from_secs(seconds));
    thread::scope(|scope| {
        for client in 0..64 {
            scope.spawn(move || {
                for round in 1.. {
                    ask(client, round);
                    if Instant::now() >= end {
                        break;
                    }
                }
            });
        }
    });
    let grown = memory().saturating_sub(before);
    let answered = answered.load(Ordering::Relaxed);
    println!("{answered} answers in {seconds} s, {} MB more than before", grown >> 20);
    assert!(answered >= 192, "{answered} answers");
    assert!(grown < 64 << 20, "{} MB more than before", grown >> 20);
}

/// More searches than may wait are refused with 503, and those that wait are served.
#[test]
fn too_many_searches_are_refused() {
    let address = serve(Limits { searches: 1, waiting: 1, ..Limits::default() });
    let question = json!({ "game": { "rules": "standard" }, "nodes": 3000 }).to_string();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let clients: Vec<_> =
            (0..8).map(|_| scope.spawn(|| post(address, "/api/analysis", &question).0)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
    assert_eq!(post(address, "/api/analysis", &question).0, 200);
}
