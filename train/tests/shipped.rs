//! The players that come with the program: what stands beside them is theirs, and they play as they should.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gipf_model::{AuxiliaryHeads, WeightFormat};
use gipf_player::shipped::SHIPPED;
use gipf_train::config::LoadedConfig;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../player/players")
}

fn json(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gipf")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn file(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

#[test]
fn what_stands_beside_a_player_is_its_own() {
    let table = fs::read_to_string(folder().join("README.md")).unwrap();
    for player in SHIPPED {
        let name = player.name;
        assert!(player.file.len() <= 1_000_000, "{name}: {} bytes", player.file.len());
        let checkpoint = player.checkpoint().unwrap();
        let header = &checkpoint.header;
        assert_eq!(header.weights, WeightFormat::F16, "{name}");
        assert_eq!(header.architecture.auxiliary, AuxiliaryHeads::NONE, "{name}");
        assert!(checkpoint.calibration.is_some(), "{name} plays in int8");
        assert!(table.contains(&format!("| `shipped:{name}` |")), "{name} is not in the table");

        let config = LoadedConfig::load(&folder().join(format!("{name}.toml")), &[]).unwrap();
        let network = &config.config.network;
        let size =
            if network.grow_to.is_empty() { &network.architecture } else { &network.grow_to };
        assert_eq!(header.architecture.to_string(), *size, "{name}");

        let curve = file(&format!("{name}.curve.json"));
        let points =
            curve["curves"].as_array().unwrap().last().unwrap()["points"].as_array().unwrap();
        assert_eq!(points.last().unwrap()["step"], header.step, "{name}: the curve's end");
        let exam = file(&format!("{name}.exam.json"));
        assert_eq!(exam["player"], format!("shipped:{name}"));
        for met in exam["matches"].as_array().unwrap() {
            assert_eq!(
                met["match"]["a_network"], header.sha256,
                "{name} did not play {}",
                met["b"]
            );
        }
    }
}

#[test]
fn they_beat_greedy_and_a_search_two_plays_deep() {
    for player in SHIPPED {
        let name = format!("shipped:{}", player.name);
        for (opponent, least) in [("greedy", 0.95), ("alphabeta:2", 0.8)] {
            let limits = ["--games", "20", "--nodes", "64", "--seed", "5", "--json"];
            let result = json(&[&["match", &name, opponent][..], &limits].concat());
            assert_eq!(result["games"], 20);
            let score = result["score"].as_f64().unwrap();
            assert!(score >= least, "{name} against {opponent}: {score}");
        }
    }
}
