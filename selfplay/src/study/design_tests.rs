use super::*;

#[test]
fn errors_name_the_game_and_the_number() {
    let new = |rules, budget, round| Study::new(rules, Design::Even, budget, round);
    let message = |error: Result<Study, StudyError>| error.unwrap_err().to_string();
    assert_eq!(message(new(0, Budget::Open, 8)), "rules is 0: allowed are 1 to 10000");
    assert_eq!(message(new(3, Budget::Open, 0)), "smallest_round is 0: allowed are 1 to 1000000");
    assert_eq!(
        message(new(3, Budget::Width(f64::NAN), 8)),
        "width is NaN: allowed are numbers above 0, at most 1"
    );
    let mut study = new(2, Budget::Open, 2).unwrap();
    let report = |study: &mut Study, rules, game| {
        study.report(StudyGame { rules, game }, 1, GameResult::White)
    };
    assert_eq!(report(&mut study, 0, 1), Ok(false));
    for (rules, game, wanted) in [
        (0, 1, "game 1 of rules string 0 has ended before"),
        (0, 2, "game 2 of rules string 0 is not one of this round's"),
        (2, 0, "game 0 of rules string 2 is not one of this round's"),
    ] {
        assert_eq!(report(&mut study, rules, game).unwrap_err().to_string(), wanted);
    }
    let pending: Vec<_> = study.pending().map(|game| (game.rules, game.game)).collect();
    assert_eq!(pending, [(0, 0), (1, 0), (1, 1)]);
    assert_eq!((study.games(), study.rounds()), (0, 0), "the round is not whole");
    for (rules, game) in pending {
        report(&mut study, rules, game).unwrap();
    }
    assert_eq!((study.games(), study.rounds()), (4, 1));
    assert_eq!(study.table().standings[1].units, 1, "one opening");
    // One that repeats another takes its number and its part of the budget, and is in no score.
    for (rules, game) in [(0, 2), (1, 2), (1, 3)] {
        report(&mut study, rules, game).unwrap();
    }
    let repeated = StudyGame { rules: 0, game: 3 };
    assert_eq!(study.report_repeated(repeated), Ok(true));
    assert!(study.report_repeated(repeated).is_err(), "its round is over");
    assert_eq!((study.games(), study.played(0), study.played(2)), (8, 4, 0));
    let lines = study.table().standings;
    assert_eq!((lines[0].games, lines[0].repeated), (3, 1));
    assert_eq!(study.pending().next(), Some(StudyGame { rules: 0, game: 4 }));
    let text = serde_json::to_string(&study).unwrap();
    assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), study);
}

#[test]
fn a_stored_study_is_checked() {
    let study = Study::new(2, Design::Adaptive, Budget::Games(100), 2).unwrap();
    let text = serde_json::to_string(&study).unwrap();
    assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), study);
    for (from, to, wanted) in [
        ("\"plan\":[2,2]", "\"plan\":[2]", "its round has not the games"),
        ("\"plan\":[2,2]", "\"plan\":[0,0]", "its round has not the games"),
        ("\"plan\":[2,2]", "\"plan\":[2,18446744073709551615]", "its round has not the games"),
        ("\"low\":0.0", "\"low\":2.0", "rules string 0 has bounds"),
        ("\"games\":100", "\"games\":0", "games is 0"),
        ("\"smallest_round\":2", "\"smallest_round\":0", "smallest_round is 0"),
    ] {
        assert!(text.contains(from), "{text}");
        let wrong = text.replacen(from, to, 1);
        let error = serde_json::from_str::<Study>(&wrong).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
