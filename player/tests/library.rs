//! The library: trained players from their files, at games, with limits of every kind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use gipf_core::{Color, Play, Rules};
use gipf_model::{Architecture, Checkpoint, PlayerCard};
use gipf_player::shipped::Shipped;
use gipf_player::{
    Budget, Clock, PlayerError, PlayerFile, Score, Session, SessionError, Strength, StrengthError,
};

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

fn standard() -> PlayerFile {
    Shipped::named("standard").unwrap().player().unwrap()
}

/// An untrained network's file, for these rules.
fn untrained(rules: &[&str]) -> PlayerFile {
    let rules = rules.iter().map(|&text| text.to_owned()).collect();
    let mut checkpoint = Checkpoint::initial(Architecture::new(1, 8), rules, "a run", 4).unwrap();
    checkpoint.header.card =
        Some(PlayerCard { name: "beginner".to_owned(), licence: "MIT".to_owned(), rating: None });
    let bytes = Checkpoint::new(checkpoint.header, checkpoint.tensors).unwrap().to_bytes().unwrap();
    PlayerFile::from_bytes("its bytes", &bytes).unwrap()
}

/// Time that passes by a millisecond at each look.
struct Ticking {
    now: Cell<u64>,
    limit: u64,
}

impl Clock for Ticking {
    fn elapsed(&self) -> Duration {
        self.now.set(self.now.get() + 1);
        Duration::from_millis(self.now.get())
    }

    fn limit(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.limit))
    }
}

#[test]
fn it_thinks_and_says_what_it_thinks() {
    let mut game = Session::new(&standard(), rules("standard")).unwrap();
    game.play("e1-e2".parse().unwrap()).unwrap();
    let choice = game.think(&Budget::nodes(60)).unwrap();
    let mut actions = Vec::new();
    game.position().actions(&mut actions);
    assert!(actions.contains(&choice.play));
    let thought = choice.thought.unwrap();
    assert_eq!((thought.nodes, thought.line[0]), (60, choice.play));
    let candidates = &thought.candidates;
    assert!(candidates.len() > 1 && candidates[0].line == thought.line, "{candidates:?}");
    assert_eq!(candidates.iter().map(|candidate| candidate.visits).sum::<u32>(), 60);
    assert!(candidates[1..].is_sorted_by_key(|candidate| std::cmp::Reverse(candidate.visits)));
    assert!(candidates.iter().map(|candidate| candidate.share).sum::<f32>() <= 1.001);
    for candidate in candidates {
        assert!(actions.contains(&candidate.line[0]));
        assert!(
            matches!(candidate.score, Score::Outcomes([win, _, loss]) if (0.0..=1.0).contains(&win) && (win + loss - 1.0).abs() < 1e-5)
        );
    }
    assert_eq!(game.plays().len(), 1, "thinking makes no play");
    let again = game.think(&Budget::nodes(60)).unwrap();
    assert!(actions.contains(&again.play));
}

#[test]
fn time_is_what_the_callers_clock_says() {
    let mut game = Session::new(&standard(), rules("standard")).unwrap();
    let nodes: Vec<u64> = [20, 400]
        .map(|limit| {
            let clock = Ticking { now: Cell::new(0), limit };
            game.begin(rules("standard"), 1).unwrap();
            let nodes = game.think(&Budget::time(&clock)).unwrap().thought.unwrap().nodes;
            assert!(clock.now.get() <= limit + 20, "{} of {limit} ms", clock.now.get());
            nodes
        })
        .into();
    assert!(nodes[0] < nodes[1], "{nodes:?}");
}

#[test]
fn a_game_goes_to_its_end_with_side_games_and_by_many_rules() {
    let file = untrained(&[]);
    assert_eq!(file.name(), "beginner");
    for text in ["basic", "tournament+T2Z2D2", "ultimate", "standard+Z6;challenge=rps"] {
        let mut game = Session::new(&file, rules(text)).unwrap();
        game.set_max_plays(200);
        if text.contains("challenge") {
            // A challenge has been called: a side game is due.
            let plays = ["Ze1-e2", "i4-h5", "Ze2:e4", "?"].map(|play| play.parse().unwrap());
            game.set_position(None, &plays).unwrap();
            assert!(matches!(game.think(&Budget::nodes(4)), Err(PlayerError::NoChoice(_))));
            let outcome = game.draw_outcome().unwrap();
            assert_eq!(game.plays().last(), Some(&outcome));
        }
        while !game.is_over() {
            if game.draw_outcome().is_none() {
                let play = game.think(&Budget::nodes(4)).unwrap().play;
                game.play(play).unwrap();
            }
        }
        let over = game.think(&Budget::nodes(4)).unwrap_err();
        assert!(matches!(over, PlayerError::NoChoice(_)));
    }
}

#[test]
fn positions_are_set_up_and_bad_ones_refused() {
    let mut game = Session::new(&untrained(&["standard"]), rules("standard")).unwrap();
    let plays: Vec<Play> = ["e1-e2", "i4-h5"].map(|text| text.parse().unwrap()).into();
    game.set_position(None, &plays).unwrap();
    assert_eq!(game.position().decider(), Some(Color::White));
    let wrong = [plays[0], plays[1], "Ze1-e2".parse().unwrap()];
    let error = game.set_position(None, &wrong).unwrap_err().to_string();
    assert!(error.starts_with("play 3 ('Ze1-e2'): "), "{error}");
    assert_eq!(game.plays(), plays, "the old position stays");
    let foreign = rules("ultimate").start();
    let error = game.set_position(Some(&foreign), &[]).unwrap_err();
    assert!(matches!(error, SessionError::UnknownRules(_)), "{error}");
    let start = game.position().to_owned();
    game.set_position(Some(&start), &[]).unwrap();
    assert!(game.plays().is_empty());
}

#[test]
fn rules_it_was_not_trained_on_are_refused_in_one_line() {
    let error = Session::new(&standard(), rules("ultimate")).err().unwrap().to_string();
    assert_eq!(error, "rules 'ultimate': shipped:standard knows standard");
    let mut game = Session::new(&standard(), rules("standard")).unwrap();
    assert!(game.begin(rules("basic"), 3).is_err());
    game.think(&Budget::nodes(2)).unwrap();
}

#[test]
fn a_bad_file_is_an_error_of_one_line() {
    let good = untrained(&["standard"]).checkpoint().to_bytes().unwrap();
    let mut damaged = good.clone();
    let last = damaged.len() - 3;
    damaged[last] ^= 1;
    for (bytes, words) in [
        (&damaged[..], "damaged: its tensors"),
        (&good[..good.len() - 5], "damaged"),
        (b"{\"rules\":\"standard\"}", "not a safetensors file"),
        (b"", "empty"),
    ] {
        let error = PlayerFile::from_bytes("it", bytes).unwrap_err().to_string();
        assert!(error.starts_with("it: ") && error.contains(words), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
    let missing = PlayerFile::read(Path::new("missing.gipf")).unwrap_err().to_string();
    assert!(missing.starts_with("missing.gipf: "), "{missing}");
}

#[test]
fn strengths_are_numbers_from_1_to_10() {
    for number in [0, 11, u32::MAX] {
        assert_eq!(Strength::new(number), Err(StrengthError));
    }
    for (strength, number) in Strength::ALL.into_iter().zip(1..) {
        assert_eq!((Strength::new(number), strength.number()), (Ok(strength), number));
        assert_eq!(strength.handicap().is_none(), strength == Strength::FULL);
    }
    assert_eq!(Strength::default(), Strength::FULL);
}

#[test]
fn a_weak_player_varies_its_plays_by_its_seed_and_a_strong_one_does_not() {
    let mut game = Session::new(&standard(), rules("standard")).unwrap();
    let mut plays = |strength: u32, nodes: u32| {
        game.set_strength(Strength::new(strength).unwrap());
        let mut of_seed = |seed: u64| {
            game.begin(rules("standard"), seed).unwrap();
            let choice = game.think(&Budget::nodes(nodes)).unwrap();
            let thought = choice.thought.unwrap();
            assert_eq!(thought.line[0], choice.play, "its line is that of its play");
            (choice.play.to_string(), thought.nodes)
        };
        (0..12).map(&mut of_seed).collect::<Vec<_>>()
    };
    let distinct = |plays: &[(String, u64)]| {
        let mut plays: Vec<_> = plays.iter().map(|(play, _)| play).collect();
        plays.sort();
        plays.dedup();
        plays.len()
    };
    let weakest = plays(1, 1000);
    assert!(distinct(&weakest) > 3, "{weakest:?}");
    assert!(weakest.iter().all(|&(_, nodes)| nodes <= 2), "{weakest:?}");
    let full = plays(10, 60);
    assert_eq!(distinct(&full), 1, "{full:?}");
    assert!(full.iter().all(|&(_, nodes)| nodes == 60), "the limit of nodes is the caller's");
}
