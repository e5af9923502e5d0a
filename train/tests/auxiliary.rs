//! Runs with auxiliary heads and draws by surprise.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::path::{Path, PathBuf};

use common::{assert_same, config, fingerprint, records, state, succeed, train};
use gipf_model::{AuxiliaryHeads, Checkpoint};

const HEADS: [&str; 3] = [
    "train.reply_loss_weight=0.15",
    "train.swing_loss_weight=0.1",
    "train.policy_surprise_weight=0.5",
];
const SHORT: [&str; 3] = ["run.deterministic=true", "run.steps=30", "checkpoints.every_steps=10"];
const BOTH: AuxiliaryHeads = AuxiliaryHeads { reply: true, swing: true };

fn checkpoint(run: &Path, step: u64) -> PathBuf {
    let mut files = std::fs::read_dir(run.join("checkpoints")).unwrap();
    let of_step = |path: &PathBuf| Checkpoint::load_header(path).unwrap().step == step;
    files.find_map(|entry| Some(entry.unwrap().path()).filter(of_step)).unwrap()
}

fn settings(more: &[&'static str]) -> Vec<&'static str> {
    [&SHORT[..], &HEADS, more].concat()
}

#[test]
fn runs_with_heads_are_bit_equal_also_if_they_were_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &settings(&[]));
    let [one, killed] = ["one", "killed"].map(|name| folder.path().join(name));
    succeed(&mut train(&config, &one));
    let made = Checkpoint::load(&checkpoint(&one, 30)).unwrap();
    assert_eq!(made.header.architecture.auxiliary, BOTH);
    assert!(records(&one).iter().any(|line| line.contains("\"kl\":")));
    let status = train(&config, &killed)
        .env("GIPF_FAULT", "state.before_rename:4")
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    assert!(state(&killed)["step"].as_u64().unwrap() < 30);
    succeed(&mut train(&config, &killed));
    assert_same(&fingerprint(&one), &fingerprint(&killed));
}

/// The large network's heads are those of the small one, and it goes on learning them.
#[test]
fn heads_grow_with_their_network() {
    let folder = tempfile::tempdir().unwrap();
    let growing = ["network.grow_to=\"2x12\"", "network.grow_at=0.5", "network.grow_steps=5"];
    let config = config(folder.path(), &settings(&growing));
    let run = folder.path().join("run");
    succeed(&mut train(&config, &run));
    let architecture = Checkpoint::load(&checkpoint(&run, 30)).unwrap().header.architecture;
    assert_eq!((architecture.to_string().as_str(), architecture.auxiliary), ("2x12", BOTH));
}

/// A run begins with a checkpoint that has none or other heads, and learns from another run's records.
#[test]
fn a_run_begins_with_heads_that_the_checkpoint_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    succeed(&mut train(&config(folder.path(), &SHORT), &plain));
    let init = checkpoint(&plain, 30);
    assert!(Checkpoint::load(&init).unwrap().header.architecture.auxiliary.is_none());
    let config = config(folder.path(), &settings(&[]));
    let with = folder.path().join("with");
    let mut command = train(&config, &with);
    succeed(command.arg("--init").arg(&init).arg("--from-records").arg(plain.join("games")));
    let first = Checkpoint::load(&checkpoint(&with, 0)).unwrap();
    assert_eq!(first.header.architecture.auxiliary, BOTH);
    let init = Checkpoint::load(&init).unwrap();
    assert_eq!(first.header.parent.as_ref(), Some(&init.header.sha256));
    assert_eq!(first.without_auxiliary().unwrap().tensors, init.tensors);
    let last =
        Checkpoint::load(&checkpoint(&with, state(&with)["step"].as_u64().unwrap())).unwrap();
    let seed = 11;
    let new = last.header.architecture.initial_tensors(seed);
    assert!(last.header.step > 0 && new.iter().any(|(name, _)| name == "auxiliary.swing.weight"));
    // The global logits belong to plays that these games hardly have.
    let always = ["auxiliary.reply_planes.weight", "auxiliary.swing.weight"];
    for (name, tensor) in new.iter().filter(|(name, _)| always.contains(&name.as_str())) {
        assert_ne!(last.tensors[name], *tensor, "{name} was not trained");
    }
}
