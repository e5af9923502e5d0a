//! The page of a player in a real browser: Debian's chromium, headless, led by `tests/browser/page.spec.js`.

mod common;

use common::browser::{is_ready, script, tests};
use common::succeed;
use gipf_model::{Architecture, Checkpoint};
use gipf_player::page::Page;
use std::path::Path;
use std::process::{Command, Stdio};

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
    succeed(&mut script("page.spec.js", &[standard, any, vectors]));
}
