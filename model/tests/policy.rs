//! The policy map on the positions of random games by many rules.

mod common;

use std::collections::{BTreeMap, HashSet};

use common::{CROSSING, RULES, actions, features, position, rules, walk};
use gipf_core::{Play, PlayKind, Position, Symmetry};
use gipf_model::{POLICY_SIZE, PolicyIndex, plane_mask, symmetry_permutation};

/// An action's groups as a set, comparable.
fn key(index: &PolicyIndex, action: usize) -> Vec<Vec<(u16, u32)>> {
    let mut groups: Vec<Vec<(u16, u32)>> = index
        .groups_of(action)
        .map(|group| {
            let mut group: Vec<_> = group.iter().map(|&(i, w)| (i, w.to_bits())).collect();
            group.sort_unstable();
            group
        })
        .collect();
    groups.sort();
    groups
}

#[test]
fn actions_have_index_sets_of_their_own() {
    let mut kinds = HashSet::new();
    for (seed, text) in RULES.iter().enumerate() {
        walk(text, seed as u64, 2000, |position, plays| {
            let features = features(position);
            let mut seen = BTreeMap::new();
            for (action, play) in plays.iter().enumerate() {
                kinds.insert(std::mem::discriminant(&play.kind()));
                let key = key(&features.policy, action);
                assert!(
                    !key.is_empty() && key.iter().all(|group| !group.is_empty()),
                    "{play} in {position}"
                );
                if let Some(other) = seen.insert(key, play) {
                    panic!("{play} and {other} have one index set in {position} of {text}");
                }
            }
            assert!(
                features.policy.planes().is_subset(plane_mask(&rules(text))),
                "{position} of {text}"
            );
        });
    }
    // All but the outcomes of side games, which are no decisions.
    assert_eq!(kinds.len(), 8, "every kind of play was seen");
}

#[test]
fn plays_with_one_index_set_have_one_result() {
    for (seed, text) in RULES.iter().enumerate() {
        walk(text, 100 + seed as u64, 300, |position, _| {
            let mut plays = Vec::new();
            position.legal_plays(&mut plays);
            let mut index = PolicyIndex::new();
            index.fill(position, &plays);
            let mut results: BTreeMap<_, Position> = BTreeMap::new();
            for (action, &play) in plays.iter().enumerate() {
                let mut result = *position;
                result.play(play);
                let first = results.entry(key(&index, action)).or_insert(result);
                // An announced move keeps the dot it was announced from.
                let same = *first == result || matches!(play.kind(), PlayKind::Extra(_));
                assert!(same, "{play} in {position} of {text}");
            }
        });
    }
}

#[test]
fn symmetries_permute_the_logits() {
    let logits: Vec<f32> =
        (0..POLICY_SIZE).map(|i| ((i * 7919) % 1009) as f32 / 504.5 - 1.0).collect();
    for (seed, text) in RULES.iter().enumerate() {
        walk(text, 200 + seed as u64, 150, |position, plays| {
            let mut expected = Vec::new();
            features(position).policy.logits(&logits, &mut expected);
            for symmetry in Symmetry::ALL {
                let permutation = symmetry_permutation(symmetry);
                let mut permuted = vec![f32::NAN; POLICY_SIZE];
                for (index, &image) in permutation.iter().enumerate() {
                    permuted[usize::from(image)] = logits[index];
                }
                let image = position.transform(symmetry);
                let plays: Vec<Play> =
                    plays.iter().map(|&play| position.transform_play(symmetry, play)).collect();
                let mut index = PolicyIndex::new();
                index.fill(&image, &plays);
                let mut found = Vec::new();
                index.logits(&permuted, &mut found);
                for ((play, expected), found) in plays.iter().zip(&expected).zip(&found) {
                    assert!(
                        (expected - found).abs() < 1e-5,
                        "{play} in {image}: {found} for {expected}"
                    );
                }
            }
        });
    }
}

#[test]
fn permutations_form_the_group() {
    for symmetry in Symmetry::ALL {
        let (there, back) =
            (symmetry_permutation(symmetry), symmetry_permutation(symmetry.inverse()));
        assert!((0..POLICY_SIZE).all(|i| usize::from(back[usize::from(there[i])]) == i));
    }
}

#[test]
fn an_entry_onto_an_empty_spot_has_no_direction() {
    let start = position("basic", "s2S/5/6/S5s/6/5/s2S 12,12 BB w m");
    let mut index = PolicyIndex::new();
    let plays: Vec<Play> =
        ["b1-b3", "a1-b2", "a2-b2"].iter().filter_map(|text| text.parse().ok()).collect();
    index.fill(&start, &plays);
    // b2 is occupied: two pushes.
    assert_ne!(key(&index, 0), key(&index, 1));
    let plays: Vec<Play> = actions(&start);
    assert!(plays.len() > 12);
}

/// Two rows of GIPF-pieces that cross on e5: taking e5 alone deals with both lines.
#[test]
fn a_removal_two_lines_share_is_their_logsumexp() {
    let position = position("standard", CROSSING);
    let plays = actions(&position);
    let e5: Play = "xe5".parse().expect("a play");
    let action = plays.iter().position(|&play| play == e5).expect("e5 can be taken alone");
    let index = features(&position).policy;
    assert_eq!(index.groups_of(action).len(), 2);
    let logits: Vec<f32> = (0..POLICY_SIZE).map(|i| (i as f32 * 0.37).sin()).collect();
    let sums: Vec<f32> = index
        .groups_of(action)
        .map(|group| group.iter().map(|&(i, w)| w * logits[usize::from(i)]).sum())
        .collect();
    // The seven spots of the line, averaged, and the spot taken.
    for group in index.groups_of(action) {
        assert_eq!(group.len(), 8);
        assert!((group.iter().map(|&(_, weight)| weight).sum::<f32>() - 2.0).abs() < 1e-6);
    }
    let mut found = Vec::new();
    index.logits(&logits, &mut found);
    let expected = (sums[0].exp() + sums[1].exp()).ln();
    assert!((found[action] - expected).abs() < 1e-6, "{} {expected}", found[action]);
}
