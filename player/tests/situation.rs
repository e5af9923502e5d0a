//! The rules of a position in words, over directed positions of every phase.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use gipf_core::{Color, Phase, Play, Position, Rules};
use gipf_player::refusal::refusal;
use gipf_player::situation::{ending, holdings, situation, stage_rule};

/// Every directed position by its name, after its plays.
fn positions() -> Vec<(String, Position)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/vectors/positions.json");
    let all: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let read = |entry: &serde_json::Value| {
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        let mut position = position(&text("rules"), &text("position"));
        for play in entry["plays"].as_array().into_iter().flatten() {
            position.try_play(play.as_str().unwrap().parse().unwrap()).unwrap();
        }
        (text("name"), position)
    };
    all.iter().map(read).collect()
}

fn position(rules: &str, text: &str) -> Position {
    let rules: Rules = rules.parse().unwrap();
    Position::parse(&rules, text).unwrap()
}

#[test]
fn situations_in_words() {
    let positions = positions();
    let golden = [
        ("basic start", "White may enter basic pieces"),
        ("tournament start: only GIPF-pieces", "White must enter a GIPF-piece, its first piece"),
        (
            "stage L: loaded or basic, no GIPF-piece; TAMSK makes no regular move",
            "White may enter loaded pieces and basic pieces",
        ),
        (
            "stage G, one potential left",
            "Black may enter GIPF-pieces, loaded pieces and basic pieces",
        ),
        (
            "ZERTZ: not over a gap, not onto a dot",
            "White may enter basic pieces, or move its potential ZÈRTZ on e4",
        ),
        (
            "PUNCT takes a covered former GIPF-piece back",
            "Black has nothing to enter and must move a potential: PÜNCT on d5 or PÜNCT on e6",
        ),
        ("a row of five", "White owes the removal of b3-g6"),
        (
            "crossing rows: the owner chooses, the other is broken",
            "White owes the removal of e2-e5 or b5-e5, whichever it likes first",
        ),
        (
            "GIPF-pieces of both colours in a row: the remover chooses",
            "White owes the removal of e2-e6; the GIPF-pieces on e3 and e6 may stay",
        ),
        (
            "a row of loaded pieces must be broken",
            "White owes the removal of e2-e5; the loaded pieces on e2, e3, e4 and e5 may stay, but not all of them",
        ),
        (
            "GIPF-pieces and a loaded piece: only a GIPF-only row may be left",
            "White owes the removal of e2-e6; the loaded piece on e6 and the GIPF-pieces on e2, e3, e4 and e5 may stay, but not all of them",
        ),
        (
            "punct=convert: converted GIPF-pieces of both colours may be kept in a removal",
            "White owes the removal of e2-e6; the converted GIPF-pieces on e5 and e6 may stay",
        ),
        (
            "a removal in the opponent's turn fills an empty hand",
            "White owes the removal of e2-e5, in Black's turn",
        ),
        (
            "a GIPF-piece pushed next to a GIPF-only row changes its segment",
            "White may leave its GIPF-pieces e2-e6 standing (x-) or take any of them",
        ),
        (
            "TAMSK pushed onto e5 by its owner",
            "White's TAMSK-stack was pushed onto e5: make its extra move or skip it (+-)",
        ),
        (
            "TAMSK pushed onto e5 by the opponent",
            "White's TAMSK-stack was pushed onto e5 by Black: make its extra move or skip it (+-)",
        ),
        (
            "a move with a potential is announced",
            "White announced Ze2:e4: challenge it (?) or let it pass (.)",
        ),
    ];
    for (name, words) in golden {
        let (_, position) = positions.iter().find(|(given, _)| given == name).unwrap();
        assert_eq!(situation(position), words, "{name}");
    }
}

#[test]
fn side_games_and_ends_in_words() {
    let announced = "1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m";
    for (challenge, first, second) in [
        (
            "rps;limit=1",
            "White announced Ze2:e4: challenge it (?) or let it pass (.); Black has 1 challenge left",
            "White's Ze2:e4 was challenged: does White win (=w), tie (=t) or lose (=l) rock-paper-scissors?",
        ),
        (
            "coin",
            "White announced Ze2:e4: challenge it (?) or let it pass (.)",
            "White's Ze2:e4 was challenged: does White win (=w) or lose (=l) the toss of a coin?",
        ),
        (
            "recorded",
            "White announced Ze2:e4: challenge it (?) or let it pass (.)",
            "White's Ze2:e4 was challenged: does White win (=w), tie (=t) or lose (=l) the side game?",
        ),
    ] {
        let mut position = position(&format!("standard+Z6;challenge={challenge}"), announced);
        position.play("Ze2:e4".parse().unwrap());
        assert_eq!(situation(&position), first);
        position.play(Play::CHALLENGE);
        assert_eq!(situation(&position), second);
    }
    let mut lost = position("standard", "4/5/6/SSSGg2/6/5/4 5,5 BB w rw");
    assert_eq!(ending(&lost), None);
    lost.play("xe2,e3,e4,e6".parse().unwrap());
    assert_eq!(situation(&lost), "White has won: Black has no GIPF-piece left");
    let mut stuck = position("basic", "4/5/6/S6/6/5/s3 0,1 BB b m");
    stuck.play("i1-h2".parse().unwrap());
    assert_eq!(situation(&stuck), "Black has won: White has to play and cannot");
}

/// Every position has one line that says something, and no play is both legal and refused.
#[test]
fn every_position_has_its_line() {
    let mut phases = [false; 5];
    for (name, position) in positions() {
        let text = situation(&position);
        assert!(!text.is_empty() && !text.contains('\n') && !text.contains("  "), "{name}: {text}");
        phases[match position.phase() {
            Phase::ExtraOwed => 0,
            Phase::Regular => 1,
            Phase::ExtraEarned => 2,
            Phase::Removal(_) => 3,
            _ => 4,
        }] = true;
        let mut plays = Vec::new();
        position.legal_plays(&mut plays);
        for play in plays {
            assert_eq!(refusal(&position, play), None, "{name}: {play}");
        }
    }
    assert_eq!(phases, [true; 5]);
}

#[test]
fn holdings_in_words() {
    let start: Rules = "ultimate".parse().unwrap();
    assert_eq!(
        holdings(&start.start(), Color::White),
        "21 basic pieces, 3 TAMSK, 3 ZÈRTZ, 3 DVONN, 3 YINSH and 3 PÜNCT in hand; 0 GIPF-pieces on the board; must enter a GIPF-piece first"
    );
    let position = position("tournament+T6|Z6", "G3/5/6/7/6/5/3g 14,14Z1 GG b m");
    assert_eq!(
        holdings(&position, Color::White),
        "14 basic pieces in hand; 1 GIPF-piece on the board; may enter GIPF-pieces and basic pieces"
    );
    assert_eq!(
        holdings(&position, Color::Black),
        "14 basic pieces and 1 ZÈRTZ in hand; 1 GIPF-piece on the board; may enter GIPF-pieces, loaded pieces and basic pieces"
    );
    assert_eq!(
        [stage_rule(&position, Color::White), stage_rule(&position, Color::Black)],
        [
            Some("White: GIPF-pieces end with its first basic piece".to_owned()),
            Some(
                "Black: GIPF-pieces end with its first loaded piece, both with its first basic piece"
                    .to_owned()
            )
        ]
    );
}

#[test]
fn refusals_in_words() {
    let loaded = "1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m";
    let golden = [
        (
            "standard",
            "g2G/5/6/G5g/6/5/g2G 12,12 BB w m",
            "Te1-e2",
            "White has no TAMSK-potential in hand",
        ),
        ("standard", "g2G/5/6/G5g/6/5/g2G 12,12 BB w m", "x-", "no removal is due"),
        ("standard", "g2G/5/6/G5g/6/5/g2G 12,12 BB w m", "+-", "no extra move is due"),
        ("standard", "g2G/5/6/G5g/6/5/g2G 12,12 BB w m", "?", "no move is announced"),
        (
            "basic",
            "SsSs/5/6/7/6/5/4 10,10 BB w m",
            "b1-b2",
            "the line from b1 is full, nothing can be pushed",
        ),
        (
            "tournament",
            "4/5/6/7/6/5/4 18,18 GG w m",
            "e1-e2",
            "the first piece that White enters must be a GIPF-piece",
        ),
        (
            "tournament",
            "G3/5/6/S6/6/5/3g 15,14 BG w m",
            "Ge1-e2",
            "White has entered another piece, so GIPF-pieces are over",
        ),
        (
            "standard+Z6",
            loaded,
            "Ze2:e5",
            "ZÈRTZ jumps in a straight line over neighbouring stacks to the first empty spot behind them",
        ),
        ("standard+Z6", loaded, "De2:e3", "White has no piece loaded with DVONN on e2"),
        (
            "standard+Z6",
            loaded,
            "Zi1-h2",
            "White has entered a basic piece, so loaded pieces are over",
        ),
        ("standard", "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw", "xe2,e4", "e5 must be taken too"),
        (
            "standard",
            "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw",
            "xe2,e4,e5,h4",
            "h4 cannot be taken with this row",
        ),
        (
            "standard",
            "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw",
            "x-",
            "there is a row that has to be removed, not only GIPF-pieces",
        ),
        (
            "standard",
            "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw",
            "e1-e2",
            "a removal by White is due: x and the spots",
        ),
        (
            "standard+Z6",
            "1g2/5/6/(SZ)(SZ)(SZ)(SZ)(SZ)2/6/5/2G1 5,5 BB w rw",
            "xe2",
            "a row would be left standing",
        ),
        (
            "standard+T6",
            "1g2/5/6/3(ST)3/6/5/2G1 5,5 BB w x",
            "e1-e2",
            "the extra move is due: +, a dot and its spot, or +- to skip it",
        ),
    ];
    for (rules, text, play, words) in golden {
        let position = position(rules, text);
        let play: Play = play.parse().unwrap();
        assert_eq!(refusal(&position, play).as_deref(), Some(words), "{play} in {text}");
    }
}
