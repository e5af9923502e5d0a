//! `gipf report` on whole runs: one file with everything in it, whatever state the run is in.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{config, succeed, train};
use gipf_train::config::LoadedConfig;
use gipf_train::run::RunFolder;
use gipf_train::store::DiskWait;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(run: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.arg("report").arg(run).args(arguments).stdin(Stdio::null());
    command
}

fn report(run: &Path, arguments: &[&str]) -> Output {
    command(run, arguments).output().unwrap()
}

/// The one line on standard error of a report that is refused with this code.
fn refused(run: &Path, arguments: &[&str], code: i32) -> String {
    common::refused(&mut command(run, arguments), code, &[])
}

fn page(run: &Path) -> String {
    let output = report(run, &[]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let path = run.join("report.html");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), path.display().to_string());
    fs::read_to_string(path).unwrap()
}

/// The games in a page's data.
fn games(page: &str) -> Vec<serde_json::Value> {
    let (_, rest) = page.split_once("id=\"game-data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Nothing is loaded from elsewhere: no address but the namespace of SVG, no source, links within the page only.
fn assert_self_contained(page: &str) {
    let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
    for part in ["http://", "https://", "src=", "@import", "url(http", "<link", "<iframe", "<img"] {
        assert!(!without_namespace.contains(part), "{part}");
    }
    for link in page.split("href=\"").skip(1) {
        assert!(link.starts_with('#'), "{}", &link[..20]);
    }
}

#[test]
fn a_trained_run_is_reported_and_damage_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["run.deterministic=true", "run.steps=60", "checkpoints.every_steps=30"];
    let (config, run) = (config(folder.path(), &settings), folder.path().join("run"));
    succeed(&mut train(&config, &run));
    // A run that ends has its report.
    let at_end = fs::read_to_string(run.join("report.html")).unwrap();
    assert_eq!(games(&at_end).len(), 8);

    let whole = page(&run);
    assert_self_contained(&whole);
    assert_eq!(games(&whole).len(), 8);
    assert!(whole.contains("<dt>Rules</dt><dd>standard</dd>") && whole.contains("<dd>60</dd>"));
    assert!(whole.matches("<svg class=\"chart\"").count() >= 8, "curves");
    assert!(whole.contains(&format!("report {}", run.display())), "how to make it again");
    assert!(whole.contains(&format!("rate {}", run.display())), "how to get ratings");
    assert!(!whole.contains("class=\"faults\""));

    // Names from files are text, whatever they say.
    let player = r#"{"name":"</script><script>alert(1)//","step":60,"elo":10,"low":1,"high":20,"games":4,"games_made":9}"#;
    let ratings = format!(
        r#"{{"format":"gipf-ratings-1","rules":"<!--<script>","players":[{player}],"games":4}}"#
    );
    fs::write(run.join("ratings.json"), ratings).unwrap();
    let named = page(&run);
    assert!(named.contains("&lt;/script&gt;&lt;script&gt;alert(1)//"));
    assert!(!named.contains("<script>alert") && !named.contains("<!--"));
    assert_eq!(named.matches("<script").count(), 3);

    // Damage is told in one line each, and the rest stands.
    fs::write(run.join("ratings.json"), "{").unwrap();
    fs::write(run.join("history.jsonl"), "hello\n").unwrap();
    let events = fs::read_dir(run.join("events")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&events).unwrap();
    bytes.extend([7; 40]);
    fs::write(&events, bytes).unwrap();
    let segment = run.join("games/000001.jsonl.zst");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[40] ^= 0xFF;
    fs::write(&segment, bytes).unwrap();
    let output = report(&run, &[]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    assert_eq!(error.lines().count(), 4, "{error}");
    let damaged = fs::read_to_string(run.join("report.html")).unwrap();
    for part in ["ratings.json", "history.jsonl, line 1", "tfevents", "000001.jsonl.zst is damaged"]
    {
        assert!(error.contains(part) && damaged.contains(part), "{part}: {error}");
    }
    assert!(damaged.matches("<svg class=\"chart\"").count() >= 8, "curves");
    assert_eq!(games(&damaged).len(), 8);
}

#[test]
fn a_run_that_has_just_begun_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path(), &[]), folder.path().join("a new run"));
    let loaded = LoadedConfig::load(&config, &[]).unwrap();
    // Held while it is reported, as by the process that trains it.
    let held = RunFolder::create(&run, &loaded, DiskWait::default()).unwrap();
    let page = page(&run);
    assert_self_contained(&page);
    assert!(games(&page).is_empty());
    for part in ["No curves yet", "No games to show yet", "No ratings yet", "No matches yet"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("a new run&#39;"), "a folder's name is one word of a command");
    drop(held);
}

#[test]
fn only_reports_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path(), &[]), folder.path().join("run"));
    assert!(refused(&run, &[], 1).contains("holds no run"));
    let loaded = LoadedConfig::load(&config, &[]).unwrap();
    drop(RunFolder::create(&run, &loaded, DiskWait::default()).unwrap());
    let out = folder.path().join("out.html");
    let shown = out.display().to_string();
    for _ in 0..2 {
        assert!(report(&run, &["--out", &shown]).status.success());
    }
    assert!(!run.join("report.html").exists());
    fs::write(&out, "my notes").unwrap();
    assert!(refused(&run, &["--out", &shown], 2).contains("is no report"));
    assert_eq!(fs::read_to_string(&out).unwrap(), "my notes");
    let nowhere = folder.path().join("nowhere/out.html").display().to_string();
    assert!(refused(&run, &["--out", &nowhere], 1).contains("there is no folder"));
    assert!(refused(&run, &["--games", "1000"], 2).contains("0 to 200"));
}
