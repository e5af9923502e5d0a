//! Features: symmetric, complete, and the same whichever colour they are seen by.

mod common;

use std::collections::HashMap;

use common::{RULES, features, position, rules, walk};
use gipf_core::{Play, Position, Symmetry};
use gipf_model::{Features, GLOBALS, PLANES, global_names, plane_names};

#[test]
fn symmetries_commute() {
    for (seed, text) in RULES.iter().enumerate() {
        walk(text, seed as u64, 200, |position, plays| {
            let here = features(position);
            for symmetry in Symmetry::ALL {
                let image = position.transform(symmetry);
                let plays: Vec<Play> =
                    plays.iter().map(|&play| position.transform_play(symmetry, play)).collect();
                let mut there = Features::new();
                there.fill(&image, &plays);
                let expected = here.transformed(symmetry);
                for (plane, name) in plane_names().iter().enumerate() {
                    assert_eq!(there.planes[plane], expected.planes[plane], "{name} of {image}");
                }
                assert_eq!(there.globals, expected.globals, "{image}");
                assert_eq!(there.policy.planes(), expected.policy.planes(), "{image}");
            }
        });
    }
}

/// The position's text with the colours changed over.
fn swapped(position: &Position) -> String {
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    let side =
        |text: &str| text.chars().map(|c| if c == 'w' { 'b' } else { 'w' }).collect::<String>();
    let board = fields[0]
        .chars()
        .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
    let hands: Vec<&str> = fields[1].split(',').rev().collect();
    let phase = match fields[4] {
        "rw" => "rb",
        "rb" => "rw",
        same => same,
    };
    let detail = fields.get(5).map(|detail| {
        let parts = detail.split(',').map(|part| match part.split_once('=') {
            Some(("e5", color)) => format!("e5={}", side(color)),
            Some(("used", counts)) => {
                format!("used={}", counts.split('/').rev().collect::<Vec<_>>().join("/"))
            }
            _ => part.to_owned(),
        });
        format!(" {}", parts.collect::<Vec<_>>().join(","))
    });
    let stages: String = fields[2].chars().rev().collect();
    let board: String = board.collect();
    format!(
        "{board} {} {stages} {} {phase}{}",
        hands.join(","),
        side(fields[3]),
        detail.unwrap_or_default()
    )
}

#[test]
fn colours_do_not_show() {
    let rules_alike =
        RULES.iter().filter(|text| !text.contains(['|', '/']) || text.contains("chance"));
    for (seed, text) in rules_alike.enumerate() {
        walk(text, 400 + seed as u64, 500, |here, _| {
            let there = position(text, &swapped(here));
            assert_eq!(features(here), features(&there), "{here} and {there}");
        });
    }
}

fn bits(features: &Features) -> (Vec<u64>, Vec<u32>) {
    (
        features.planes.iter().map(|set| set.0).collect(),
        features.globals.iter().map(|g| g.to_bits()).collect(),
    )
}

/// Positions that differ, other than by colours changed over, have features that differ.
#[test]
fn equal_features_mean_equal_positions() {
    let mut seen: HashMap<_, (String, String)> = HashMap::new();
    for (seed, text) in RULES.iter().enumerate() {
        for round in 0..2 {
            walk(text, 50 + 100 * round + seed as u64, 2000, |position, _| {
                let rules = position.rules().to_string();
                let view = if position.decider() == Some(gipf_core::Color::White) {
                    position.to_string()
                } else {
                    swapped(position)
                };
                let here = (rules, view);
                let first = seen.entry(bits(&features(position))).or_insert_with(|| here.clone());
                assert_eq!(*first, here);
            });
        }
    }
}

/// Pairs that differ in one thing each.
#[test]
fn everything_in_the_state_shows() {
    let standard = "g2G/5/6/G5g/6/5/g2G 12,12 BB w m";
    let ultimate = "g3/(ST)4/6/3(sP)3/6/5/G3 15T2Z2D3Y3P2,15T3Z3D3Y3P3 LL w m";
    let of = |rules: &str, text: &str| features(&position(rules, text));
    let pairs = [
        // Board, hands, stages.
        (of("standard", standard), of("standard", "g2G/5/6/G5g/6/5/g1G1 12,12 BB w m")),
        (of("standard", standard), of("standard", "g2G/5/6/G5g/6/5/g2S 12,12 BB w m")),
        (of("standard", standard), of("standard", "g2G/5/6/G5g/6/5/g2G 11,12 BB w m")),
        (of("standard", standard), of("standard", "g2G/5/6/G5g/6/5/g2G 12,11 BB w m")),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("T2", "T1"))),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("LL", "LG"))),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("LL", "GL"))),
        // Stacks.
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("(ST)", "(SZ)"))),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("(ST)", "T"))),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("(ST)", "S"))),
        (of("ultimate", ultimate), of("ultimate", &ultimate.replace("3(sP)3", "3(SP)3"))),
        (
            of("ultimate", "g3/5/6/3(SdD)3/6/5/G3 15T3Z3D2Y3P3,15T3Z3D2Y3P3 LL w m"),
            of("ultimate", "g3/5/6/3(sdD)3/6/5/G3 15T3Z3D2Y3P3,15T3Z3D2Y3P3 LL w m"),
        ),
        (
            of("ultimate", "g3/5/6/3(dD)3/6/5/G3 15T3Z3D1Y3P3,15T3Z3D1Y3P3 LL w m"),
            of("ultimate", "g3/5/6/3(dDdD)3/6/5/G3 15T3Z3D1Y3P3,15T3Z3D1Y3P3 LL w m"),
        ),
        (
            of("standard+D6", "g3/5/6/3(SdDdDdDdDdDdD)3/6/5/G3 11,11 LL w m"),
            of("standard+D6", "g3/5/6/3(SdDdDdDdDdD)3/6/5/G3 11D1,11D1 LL w m"),
        ),
        // Rules.
        (features(&rules("standard").start()), features(&rules("standard:19").start())),
        (features(&rules("basic").start()), features(&rules("basic:16/15").start())),
        (features(&rules("standard+T6").start()), features(&rules("standard+T6|Z6").start())),
        (
            features(&rules("standard+T6").start()),
            features(&rules("standard+T6;challenge=rps").start()),
        ),
        (
            features(&rules("standard+T6;challenge=coin").start()),
            features(&rules("standard+T6;challenge=rps").start()),
        ),
        (
            features(&rules("standard+T6;challenge=rps;limit=2").start()),
            features(&rules("standard+T6;challenge=rps;limit=3").start()),
        ),
        (
            features(&rules("standard+T6Z6;challenge=rps;kinds=T").start()),
            features(&rules("standard+T6Z6;challenge=rps;kinds=Z").start()),
        ),
        (
            features(&rules("standard+P6").start()),
            features(&rules("standard+P6;punct=convert").start()),
        ),
    ];
    for (number, (a, b)) in pairs.iter().enumerate() {
        assert_ne!(bits(a), bits(b), "pair {number}");
    }
}

/// Every plane and every global takes more than one value somewhere: none is forgotten or always the same.
#[test]
fn every_plane_and_global_is_used() {
    let mut planes = [false; PLANES];
    let mut globals = vec![Vec::new(); GLOBALS];
    let mut see = |position: &Position| {
        let features = features(position);
        for (used, plane) in planes.iter_mut().zip(features.planes) {
            *used |= !plane.is_empty();
        }
        for (values, value) in globals.iter_mut().zip(features.globals) {
            assert!(value.is_finite() && (0.0..=3.0).contains(&value));
            if values.len() < 2 && !values.contains(&value) {
                values.push(value);
            }
        }
    };
    for (seed, text) in RULES.iter().enumerate() {
        walk(text, 300 + seed as u64, 3000, |position, _| see(position));
    }
    // A line stays closed only while another row waits.
    for symmetry in Symmetry::ALL {
        let crossing = position("standard", common::CROSSING).transform(symmetry);
        for play in common::actions(&crossing) {
            let mut next = crossing;
            next.play(play);
            see(&next);
        }
    }
    let unused: Vec<_> = planes
        .iter()
        .zip(plane_names())
        .filter(|(used, _)| !**used)
        .map(|(_, name)| *name)
        .collect();
    // Piles of four potentials and more hardly come up in a random game.
    assert!(unused.iter().all(|name| name.starts_with("potentials less two, bit")), "{unused:?}");
    let names = global_names();
    assert_eq!(names.len(), GLOBALS);
    for (values, name) in globals.iter().zip(names) {
        // A side game's outcome is no decision, and recorded ones are not played.
        let exempt = name.contains("side game: recorded") || name == "phase: side game";
        assert!(values.len() == 2 || exempt, "{name}: {values:?}");
    }
}

#[test]
fn filling_again_gives_the_same() {
    let mut used = Features::new();
    for text in RULES {
        walk(text, 7, 100, |position, plays| {
            used.fill(position, plays);
            assert_eq!(used.planes, features(position).planes);
            assert_eq!(used.globals, features(position).globals);
            assert_eq!(used.policy.actions(), plays.len());
        });
    }
}
