//! Tests in a real browser: Debian's chromium, headless, led by the scripts of `tests/browser`.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const CHROMIUM: &str = "/usr/bin/chromium";

/// The folder of tests that several crates share.
pub(crate) fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// Whether this machine can run a test in a browser: it needs chromium, node and `npm ci` in `tests/browser`, and what else is named.
/// Where one is missing the test says so and is left out, unless `GIPF_BROWSER=required`; `make test-browser` does both.
pub(crate) fn is_ready(test: &str, others: &[(bool, &'static str)]) -> bool {
    let node = Command::new("node").arg("--version").output();
    let node = node.is_ok_and(|output| output.status.success());
    let playwright = tests().join("browser/node_modules/playwright-core").is_dir();
    let parts = [
        (Path::new(CHROMIUM).exists(), CHROMIUM),
        (node, "node"),
        (playwright, "node_modules (npm ci in tests/browser)"),
    ];
    let lacking: Vec<&str> =
        parts.iter().chain(others).filter(|(there, _)| !there).map(|(_, name)| *name).collect();
    if lacking.is_empty() {
        return true;
    }
    let text = format!("{test} is left out: this machine has no {}", lacking.join(", no "));
    assert!(std::env::var_os("GIPF_BROWSER").is_none_or(|it| it != "required"), "{text}");
    // Past the capture of a test's output: who runs the tests must see it.
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
    false
}

/// A script of `tests/browser`, not yet started; the folder of `GIPF_BROWSER_PICTURES` is its last argument.
pub(crate) fn script<A: AsRef<OsStr>>(name: &str, arguments: &[A]) -> Command {
    let mut node = Command::new("node");
    node.arg(tests().join("browser").join(name)).args(arguments);
    if let Some(pictures) = std::env::var_os("GIPF_BROWSER_PICTURES") {
        node.arg(pictures);
    }
    node
}
