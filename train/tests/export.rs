//! `gipf export`: what comes out of it, as its users read it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use gipf_model::{Checkpoint, Evaluation, Evaluator, Features, GLOBALS, PLANES, POLICY_SIZE};
use gipf_model_torch::{Device, TorchEvaluator};
use gipf_player::shipped::Shipped;
use gipf_train::evaluators::random_positions;
use serde_json::{Value, json};

/// A trained network of an older version, without a calibration.
const TRAINED: &str = "../tests/data/checkpoints/standard-4x32.safetensors";

fn run(arguments: &[&str]) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_gipf")).args(arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Fails with this code and one line that holds these words.
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let mut command = process::Command::new(env!("CARGO_BIN_EXE_gipf"));
    common::refused(command.args(arguments), code, words);
}

#[test]
fn an_exported_player_is_small_and_plays() {
    let folder = tempfile::tempdir().unwrap();
    let trained = TRAINED;
    let exported = folder.path().join("player.safetensors");
    let exported = exported.to_str().unwrap();
    let told = stdout(run(&["export", trained, "--out", exported]).success());
    assert!(told.contains("4x32") && told.contains("standard"), "{told}");
    let size = |path: &str| fs::metadata(path).unwrap().len();
    assert!(size(exported) < size(trained) * 11 / 20, "{} bytes", size(exported));
    refused(&["export", trained, "--out", exported], 2, &["exists already", "--overwrite"]);
    refused(&["export", "random", "--out", exported, "--overwrite"], 2, &["random", "network"]);
    refused(&["export", "run:nowhere", "--out", "x"], 2, &["nowhere"]);
    refused(&["export", trained, "--out", "missing/x"], 1, &["missing"]);
    for (to, option, value, forms) in [
        ("onnx", "--weights", "int8", "player or web"),
        ("torchscript", "--name", "me", "player or web"),
        ("npz", "--licence", "MIT", "player or web"),
        ("player", "--samples", "3", "npz"),
        ("player", "--page", "page.html", "web"),
    ] {
        let arguments = ["export", trained, "--out", "x", "--to", to, option, value];
        refused(&arguments, 2, &[&format!("{option} goes with --to {forms}")]);
    }
    refused(&["export", "puct:shipped:standard", "--out", "x"], 2, &["leave puct: out"]);

    // In 32 bits again it holds the same rounded numbers, and both play the same games against themselves.
    let again = folder.path().join("again.safetensors");
    let again = again.to_str().unwrap();
    run(&["export", exported, "--weights", "f32", "--out", again]).success();
    assert!(size(again) > size(trained) * 9 / 10);
    let game = |player: &str| {
        let records = format!("{player}.jsonl");
        let limits = ["--games", "2", "--nodes", "8", "--seed", "3", "--records", &records];
        let arguments = [&["match", player, "greedy", "--json"][..], &limits].concat();
        let result: Value = serde_json::from_str(&stdout(run(&arguments).success())).unwrap();
        assert_eq!(result["match"]["a_precision"], "int8", "it is still calibrated");
        let text = fs::read_to_string(&records).unwrap();
        let plays = |line: &str| serde_json::from_str::<Value>(line).unwrap()["plays"].clone();
        // The two games may end in either order.
        text.lines().map(|line| plays(line).to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(game(exported), game(again));

    // It says who it is, and goes on saying so; in int8 it is smaller still.
    let named = ["--name", "the player", "--licence", "CC0-1.0", "--weights", "int8"];
    let small = folder.path().join("small.safetensors");
    let small = small.to_str().unwrap();
    run(&[&["export", trained, "--out", small][..], &named].concat()).success();
    assert!(size(small) < size(trained) * 2 / 5, "{} bytes", size(small));
    let card = |path: &str| Checkpoint::load_header(path.as_ref()).unwrap().card.unwrap();
    assert_eq!((card(small).name, card(small).licence), ("the player".into(), "CC0-1.0".into()));
    let other = folder.path().join("other.gipf");
    run(&["export", small, "--to", "player", "--out", other.to_str().unwrap()]).success();
    let other = card(other.to_str().unwrap());
    assert_eq!((other.name.as_str(), other.licence.as_str()), ("other", "CC0-1.0"));
    refused(&["export", trained, "--out", "x", "--name", "a\nb"], 2, &["--name 'a\\nb'"]);
    refused(&["export", trained, "--out", "x", "--licence", ""], 2, &["--licence ''"]);
}

#[test]
fn an_exported_player_has_its_runs_rating_and_mixes() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"rules.rules=[{ mixes = { variant = "tournament", punct = "convert" } }, { rules = "standard" }]"#;
    let config = common::config(folder.path(), &["run.games=6", rules, "rules.max_plays=30"]);
    let folder_of_run = folder.path().join("run");
    let run_folder = folder_of_run.to_str().unwrap();
    run(&["train", config.to_str().unwrap(), "--run", run_folder]).success();
    let state: Value =
        serde_json::from_slice(&fs::read(folder_of_run.join("state.json")).unwrap()).unwrap();
    let rated = json!({
        "name": "a step", "player": "x", "step": state["step"], "seconds": null, "games_made": null,
        "elo": 123.4, "low": -10.2, "high": 250.0, "games": 8, "score": 0.5,
    });
    let ratings = json!({
        "format": "gipf-ratings-1", "rules": "standard", "limit": { "nodes": 16 }, "seed": 1,
        "anchor": "greedy", "white_advantage": { "elo": 0.0, "low": 0.0, "high": 0.0 },
        "players": [rated], "pairings": [], "games": 8,
    });
    fs::write(folder_of_run.join("ratings.json"), ratings.to_string()).unwrap();
    let exported = folder.path().join("me.safetensors");
    let exported = exported.to_str().unwrap();
    let player = format!("run:{run_folder}@latest");
    let told = stdout(run(&["export", &player, "--out", exported]).success());
    assert!(told.contains("standard, tournament with any mix and punct=convert"), "{told}");
    let rating = "rated +123 Elo (-10 to +250) above greedy, standard, 16 nodes a decision";
    assert!(told.contains(rating), "{told}");
    let header = Checkpoint::load_header(Path::new(exported)).unwrap();
    assert!(header.knows(&"tournament+Z4P4;punct=convert".parse().unwrap()));
    assert!(!header.knows(&"standard+Z4".parse().unwrap()));
}

/// Python with onnxruntime and numpy; without them, unless `GIPF_ONNX=required`, the reason for leaving a test out is printed.
fn python() -> Option<Command> {
    let found = std::process::Command::new("python3")
        .args(["-c", "import numpy, onnxruntime"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        assert_ne!(
            std::env::var("GIPF_ONNX").as_deref(),
            Ok("required"),
            "python3 has no numpy and onnxruntime"
        );
        eprintln!("skipped: python3 has no numpy and onnxruntime (pip install onnxruntime)");
        return None;
    }
    Some(Command::new("python3"))
}

/// Positions of random games by rules that between them use every part of the policy map.
fn positions() -> Vec<Features> {
    let rules =
        ["standard", "tournament", "ultimate", "standard+T4Z4D4;challenge=rps", "basic+Y6P6"];
    random_positions(&rules.map(str::to_owned)).into_iter().step_by(8).collect()
}

/// The inputs of a batch as docs/ONNX.md has them.
fn inputs(positions: &[Features]) -> (Vec<f32>, Vec<f32>) {
    let mut planes = vec![0.0; positions.len() * PLANES * 49];
    for (features, board) in positions.iter().zip(planes.chunks_mut(PLANES * 49)) {
        for (set, plane) in features.planes.iter().zip(board.chunks_mut(49)) {
            set.iter().for_each(|spot| plane[spot.x() as usize * 7 + spot.y() as usize] = 1.0);
        }
    }
    (planes, positions.iter().flat_map(|features| features.globals).collect())
}

/// Compares outputs with libtorch's evaluation: value and every play's logit within 1e-4, plays left within 1e-3.
fn compare(checkpoint: &Checkpoint, positions: &[Features], [policy, value, left]: [&[f32]; 3]) {
    let mut torch = TorchEvaluator::from_checkpoint(checkpoint, Device::Cpu, 1).unwrap();
    let mut expected = vec![Evaluation::default(); positions.len()];
    torch.evaluate(positions, &mut expected).unwrap();
    let (mut logits, mut compared) = (Vec::new(), 0);
    for (at, (features, expected)) in positions.iter().zip(&expected).enumerate() {
        features.policy.logits(&policy[at * POLICY_SIZE..][..POLICY_SIZE], &mut logits);
        let pairs = logits.iter().zip(&expected.logits);
        for (found, wanted) in pairs.chain(value[3 * at..].iter().zip(&expected.value)) {
            assert!((found - wanted).abs() < 1e-4, "position {at}: {found}, not {wanted}");
            compared += 1;
        }
        assert!((left[at] - expected.plays_left).abs() < 1e-3, "position {at}");
    }
    assert!(compared > 20 * positions.len());
}

/// Trained networks, the one that comes with the project first.
fn networks() -> Vec<(&'static str, Checkpoint)> {
    let shipped = Shipped::named("standard").unwrap().checkpoint().unwrap();
    let old = Checkpoint::load(Path::new(TRAINED)).unwrap();
    vec![("shipped:standard", shipped), (TRAINED, old)]
}

#[test]
fn onnx_is_what_libtorch_computes() {
    let Some(_) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let script = "
import sys, numpy, onnxruntime, onnxruntime.capi
folder, model, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
assert [i.shape for i in session.get_inputs()] == [['batch', 63, 7, 7], ['batch', 77]]
planes = numpy.fromfile(folder + '/planes', dtype='<f4').reshape(count, 63, 7, 7)
globals_ = numpy.fromfile(folder + '/globals', dtype='<f4').reshape(count, 77)
whole = session.run(['policy', 'value', 'plays_left'], {'planes': planes, 'globals': globals_})
for name, values in zip(['policy', 'value', 'left'], whole):
    values.astype('<f4').tofile(folder + '/' + name)
one = session.run(None, {'planes': planes[:1], 'globals': globals_[:1]})
assert all(numpy.allclose(a[:1], b, atol=1e-5) for a, b in zip(whole, one)), 'any batch'
";
    let positions = positions();
    let (planes, globals) = inputs(&positions);
    let write = |name: &str, values: &[f32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(file(name), bytes).unwrap();
    };
    write("planes", &planes);
    write("globals", &globals);
    let read = |name: &str| -> Vec<f32> {
        let bytes = fs::read(file(name)).unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    for (name, checkpoint) in networks() {
        let model = file("model.onnx");
        run(&["export", name, "--to", "onnx", "--out", &model, "--overwrite"]).success();
        let count = positions.len().to_string();
        let folder = folder.path().to_str().unwrap();
        python().unwrap().args(["-c", script, folder, &model, &count]).assert().success();
        compare(&checkpoint, &positions, [&read("policy"), &read("value"), &read("left")]);
    }
}

#[test]
fn the_program_of_the_onnx_page_runs() {
    let Some(mut python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("standard.onnx");
    let model = model.to_str().unwrap();
    run(&["export", "shipped:standard", "--to", "onnx", "--out", model]).success();
    let page = fs::read_to_string("../docs/ONNX.md").unwrap();
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let told = stdout(python.args(["-c", program, model]).assert().success());
    assert!(told.contains(" best ") && told.contains(" value ["), "{told}");
}

#[test]
fn torchscript_is_what_libtorch_computes() {
    let folder = tempfile::tempdir().unwrap();
    let positions = positions();
    let (planes, globals) = inputs(&positions);
    let tensor = |values: &[f32], shape: &[i64]| tch::Tensor::from_slice(values).reshape(shape);
    for (name, checkpoint) in networks() {
        let path = folder.path().join("model.pt");
        let model = path.to_str().unwrap();
        run(&["export", name, "--to", "torchscript", "--out", model, "--overwrite"]).success();
        let module = tch::CModule::load(&path).unwrap();
        let given =
            [tensor(&planes, &[-1, PLANES as i64, 7, 7]), tensor(&globals, &[-1, GLOBALS as i64])];
        let output = module.forward_ts(&given).unwrap();
        let parts = output.split_with_sizes([POLICY_SIZE as i64, 3, 1], 1);
        let outputs: Vec<Vec<f32>> =
            parts.iter().map(|part| part.reshape([-1]).try_into().unwrap()).collect();
        compare(&checkpoint, &positions, [&outputs[0], &outputs[1], &outputs[2]]);
    }
}

#[test]
fn samples_are_read_by_numpy() {
    let folder = tempfile::tempdir().unwrap();
    let config = common::config(folder.path(), &["run.games=8"]);
    let run_folder = folder.path().join("run");
    let run_folder = run_folder.to_str().unwrap();
    run(&["train", config.to_str().unwrap(), "--run", run_folder]).success();
    let arrays = folder.path().join("samples.npz");
    let arrays = arrays.to_str().unwrap();
    let to_npz = ["--to", "npz", "--samples", "150", "--out", arrays];
    let told = stdout(run(&[&["export", run_folder][..], &to_npz].concat()).success());
    assert!(told.contains(": 150 samples of "), "{told}");
    refused(
        &["export", "nowhere", "--to", "npz", "--out", "x"],
        2,
        &["no run and there are no records in nowhere"],
    );
    let Some(mut python) = python() else { return };
    let script = "
import sys, json, numpy
samples = numpy.load(sys.argv[1])
described = json.loads(samples['description.json'])
assert set(described['arrays']) == {n for n in samples.files if n != 'description.json'}, samples.files
n = 150
bits = samples['spot_bits'].astype(numpy.uint64)
planes = (samples['planes'][:, :, None] >> bits) & numpy.uint64(1)
assert planes.shape == (n, 63, 37) and samples['globals'].shape == (n, 77)
board = described['planes'].index('board')
assert planes[:, board].all(), 'every spot is one of the board'
assert numpy.allclose(samples['value'].sum(axis=1), 1)
start, policy = samples['action_start'], samples['policy']
assert len(start) == n + 1 and start[-1] == len(policy) and len(samples['group_start']) == len(policy) + 1
sums = numpy.add.reduceat(policy, start[:-1])
full = samples['policy_weight'] > 0
assert full.any() and numpy.allclose(sums[full], 1, atol=1e-4) and (sums[~full] == 0).all()
assert samples['group_start'][-1] == len(samples['term_start']) - 1
assert samples['term_start'][-1] == len(samples['term_logit']) == len(samples['term_weight'])
assert samples['term_logit'].min() >= 0 and samples['term_logit'].max() < 37 * len(described['policy_planes']) + 4
assert (numpy.diff(samples['game']) >= 0).all()
";
    python.args(["-c", script, arrays]).assert().success();
}
