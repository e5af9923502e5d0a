//! What a network sees and says, over every position of the vector games.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

use flate2::read::GzDecoder;
use gipf_core::{Play, Position, Rules, Symmetry};
use gipf_model::{
    Checkpoint, Evaluation, Evaluator, Features, NativeEvaluator, PolicyIndex, TensorKind,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

#[derive(Deserialize)]
struct Game {
    rules: String,
    plays: Vec<String>,
}

/// Calls `visit` with every position of the vector games in which somebody decides.
fn for_each_position(mut visit: impl FnMut(&Position)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/vectors/games");
    let mut games = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = File::open(file.unwrap().path()).unwrap();
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let game: Game = serde_json::from_str(&line.unwrap()).unwrap();
            let mut position = game.rules.parse::<Rules>().unwrap().start();
            for play in &game.plays {
                if position.decider().is_some() {
                    visit(&position);
                }
                position.try_play(play.parse().unwrap()).unwrap();
            }
            games += 1;
        }
    }
    assert!(games >= 720);
}

/// A network deep enough to see the whole board from every spot, with no branch that starts at zero.
fn random_network(seed: u64) -> Checkpoint {
    let mut network =
        Checkpoint::initial("4x16".parse().unwrap(), Vec::new(), "test", seed).unwrap();
    for spec in network.header.architecture.tensors() {
        if spec.kind == TensorKind::NormScaleZero {
            network.tensors.get_mut(&spec.name).unwrap().data.fill(1.0);
        }
    }
    network
}

/// The position after a play, an announced move let pass: it names one of several ways with one result.
fn after(position: &Position, play: Play) -> Position {
    let mut next = *position;
    next.play(play);
    if next.announced().is_some() && !next.is_chance() {
        next.play(Play::PASS);
    }
    next
}

#[test]
fn legal_plays_have_different_logits_unless_their_results_are_equal() {
    // Of millions of logits a few are equal by chance: those of two networks are not.
    let mut evaluators = [7, 8].map(|seed| NativeEvaluator::new(&random_network(seed)));
    let (mut features, mut plays) = (Features::new(), Vec::new());
    let mut evaluations = [Evaluation::default(), Evaluation::default()];
    let (mut seen, mut shared) = (0_u64, 0_u64);
    for_each_position(|position| {
        position.legal_plays(&mut plays);
        features.fill(position, &plays);
        for (evaluator, out) in evaluators.iter_mut().zip(evaluations.chunks_mut(1)) {
            evaluator.evaluate(std::slice::from_ref(&features), out).unwrap();
        }
        let mut results: BTreeMap<[u32; 2], Position> = BTreeMap::new();
        for (at, play) in plays.iter().enumerate() {
            let logits = [0, 1].map(|network| evaluations[network].logits[at]);
            assert!(logits.iter().all(|logit| logit.is_finite()));
            let result = after(position, *play);
            if let Some(other) = results.insert(logits.map(f32::to_bits), result) {
                assert_eq!(other, result, "{play} in {position} shares its logit");
                shared += 1;
            }
            seen += 1;
        }
    });
    assert!(seen > 500_000 && shared > 100_000, "{seen} plays, {shared} of them another's twin");
}

/// The logits of an action with their weights, in an order of their own: a board that is turned lists them in another one.
fn groups(index: &PolicyIndex, action: usize) -> BTreeSet<Vec<(u16, u32)>> {
    let sorted = |group: &[(u16, f32)]| {
        let mut group: Vec<_> = group.iter().map(|(i, weight)| (*i, weight.to_bits())).collect();
        group.sort_unstable();
        group
    };
    index.groups_of(action).map(sorted).collect()
}

#[test]
fn every_symmetry_commutes_with_playing_features_and_policy() {
    let (mut features, mut image_features) = (Features::new(), Features::new());
    let (mut plays, mut count) = (Vec::new(), 0_usize);
    for_each_position(|position| {
        count += 1;
        // Every symmetry on every twelfth position, another one on each of the others.
        let symmetries = match count % 12 {
            0 => &Symmetry::ALL[..],
            s => &Symmetry::ALL[s..=s],
        };
        position.actions(&mut plays);
        features.fill(position, &plays);
        for &symmetry in symmetries {
            let image = position.transform(symmetry);
            let images: Vec<Play> =
                plays.iter().map(|play| position.transform_play(symmetry, *play)).collect();
            image_features.fill(&image, &images);
            let transformed = features.transformed(symmetry);
            assert_eq!(image_features.planes, transformed.planes, "{position}");
            assert_eq!(image_features.globals, transformed.globals, "{position}");
            for action in 0..plays.len() {
                let (a, b) = (&image_features.policy, &transformed.policy);
                assert_eq!(groups(a, action), groups(b, action), "{position}");
            }
            let play = count % plays.len();
            let (mut next, mut next_image) = (*position, image);
            next.play(plays[play]);
            next_image.play(images[play]);
            assert_eq!(next.transform(symmetry), next_image, "{} in {position}", plays[play]);
        }
    });
    assert!(count > 20_000, "{count} positions");
}
