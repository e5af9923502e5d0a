//! The page of a player in a real browser: Debian's chromium, headless, led by `tests/browser/page.spec.js`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::browser::{is_ready, script, tests};
use common::succeed;
use gipf_model::{Architecture, Checkpoint};
use gipf_player::page::Page;
use gipf_player::serve::{Limits, Service};
use gipf_player::shipped::Shipped;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// `gipf export PLAYER --to web`.
fn export(player: &str, out: &Path) {
    let mut export = Command::new(env!("CARGO_BIN_EXE_gipf"));
    export.args(["export", player, "--to", "web", "--out"]).arg(out).stdin(Stdio::null());
    succeed(&mut export);
}

#[test]
fn a_player_is_played_in_a_browser() {
    let page = Page::find(None);
    if !is_ready("the browser test of the page", &[(page.is_ok(), "page (make web)")]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [standard, any, fresh] =
        ["standard.html", "any.html", "fresh.safetensors"].map(|name| folder.path().join(name));
    let architecture: Architecture = "1x16".parse().unwrap();
    Checkpoint::initial(architecture, Vec::new(), "fresh", 7).unwrap().save(&fresh).unwrap();
    export("shipped:standard", &standard);
    export(fresh.to_str().unwrap(), &any);
    let vectors = tests().join("data/vectors");
    let service = serve(&page.unwrap());
    let arguments = [standard.as_os_str(), any.as_os_str(), vectors.as_os_str(), service.as_ref()];
    succeed(&mut script("page.spec.js", &arguments));
}

/// A service of `shipped:standard` with its page, which ends with the test program: its address.
fn serve(page: &Page) -> String {
    let player = Shipped::named("standard").unwrap().player().unwrap();
    let service = Service::new(&player, Some(page), Limits::default()).unwrap();
    let (ready, address) = mpsc::channel();
    thread::spawn(move || {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        service.run(here, |address| ready.send(address).unwrap()).unwrap();
    });
    format!("http://{}/", address.recv_timeout(Duration::from_secs(60)).unwrap())
}
