//! The program in a page's WebAssembly thinks what the native one does.
//!
//! It needs node and the page (`make web`). Where one is missing the test says so and is left out, unless `GIPF_BROWSER=required`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use gipf_player::PlayerFile;
use gipf_player::desk::Game;
use gipf_player::desk::thinking::{Analysis, Opinion, Task, Thinker};
use gipf_player::page::Page;
use gipf_player::shipped::Shipped;
use serde_json::Value;

/// Positions of the vector games of `standard` in which somebody decides, as far apart as their number allows.
fn questions(count: usize) -> Vec<Analysis> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data/vectors/games/games-standard.jsonl.gz");
    let mut all = Vec::new();
    for line in BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines() {
        let game: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let plays: Vec<String> = serde_json::from_value(game["plays"].clone()).unwrap();
        for length in 1..plays.len() {
            let game =
                Game { rules: "standard".to_owned(), start: None, plays: plays[..length].to_vec() };
            all.push(Analysis { game, nodes: 64 });
        }
    }
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

/// `GIPF_PARITY_POSITIONS` positions (500 in `make soak`) at 64 simulations: the chances within 1e-4, the same play in at least 98%.
#[test]
fn the_page_thinks_what_the_program_does() {
    let count = std::env::var("GIPF_PARITY_POSITIONS").map_or(60, |text| text.parse().unwrap());
    let node = Command::new("node").arg("--version").output();
    let page = Page::find(None);
    if !node.is_ok_and(|output| output.status.success()) || page.is_err() {
        let text =
            "the test of the page's program is left out: it needs node and the page (make web)";
        assert!(std::env::var_os("GIPF_BROWSER").is_none_or(|it| it != "required"), "{text}");
        std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
        return;
    }
    let shipped = Shipped::named("standard").unwrap();
    let file = PlayerFile::from_bytes("shipped", shipped.file).unwrap();
    let mut thinker = Thinker::new(&file).unwrap();
    let questions = questions(count);
    assert_eq!(questions.len(), count);
    let native: Vec<Opinion> = questions
        .iter()
        .map(|question| {
            thinker.begin(&Task::Analysis(question.clone())).unwrap();
            let opinion = thinker.go_on(u32::MAX).unwrap();
            assert!(opinion.done);
            opinion
        })
        .collect();

    let folder = tempfile::tempdir().unwrap();
    let [html, player, asked] =
        ["page.html", "player", "questions"].map(|name| folder.path().join(name));
    std::fs::write(&html, page.unwrap().with_player(&[])).unwrap();
    std::fs::write(&player, shipped.file).unwrap();
    std::fs::write(&asked, serde_json::to_string(&questions).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/browser/opinions.js");
    let output = Command::new("node").arg(script).args([html, player, asked]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wasm: Vec<Opinion> = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(wasm.len(), native.len());
    let (mut same, mut furthest, mut searched) = (0, 0.0_f32, 0);
    for (native, wasm) in native.iter().zip(&wasm) {
        same += usize::from(native.play == wasm.play);
        if let (Some(one), Some(other)) = (native.white, wasm.white) {
            searched += 1;
            // Another play is another line of play, whose value is another.
            if native.play == wasm.play {
                furthest = furthest.max((one - other).abs());
            }
        }
    }
    println!("the same play in {same} of {count} positions, chances at most {furthest} apart");
    assert!(100 * same >= 98 * count, "the same play in {same} of {count}");
    assert!(furthest <= 1e-4, "chances {furthest} apart");
    assert!(10 * searched > 8 * count, "{searched} positions with a choice");
}
