//! Games at a table with scripted people.

use gipf_core::{DEFAULT_MAX_PLAYS, Position, Rules};
use gipf_selfplay::BuiltIn;

use super::game::Game;
use super::seat::Seat;
use super::table::Table;

/// A position of the game's rules.
fn position(rules: &str, text: &str) -> Position {
    let rules: Rules = rules.parse().unwrap();
    Position::parse(&rules, text).unwrap()
}

fn start(rules: &str) -> Position {
    rules.parse::<Rules>().unwrap().start()
}

fn computer(player: BuiltIn) -> Seat {
    Seat::Computer { player: player.player(), searches: false }
}

/// What the table writes when people type this.
fn played(start: Position, seats: [Seat; 2], script: &str) -> String {
    let game = Game::new(start, DEFAULT_MAX_PLAYS, 7);
    let (mut input, mut out) = (script.as_bytes(), Vec::new());
    let mut table = Table::new(game, seats, BuiltIn::Greedy.player(), &mut input, &mut out);
    table.run().unwrap();
    String::from_utf8(out).unwrap()
}

fn people() -> [Seat; 2] {
    [Seat::Human, Seat::Human]
}

/// Each part stands in the text, one after the other.
fn assert_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("'{part}' does not follow in:\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

/// Number 1 of the list always plays, so a game by numbers comes to its end.
#[test]
fn a_whole_game_by_numbers_against_random() {
    for rules in ["basic", "standard", "tournament+T4Z4D4;challenge=rps"] {
        let seats = [Seat::Human, computer(BuiltIn::Random)];
        let text = played(start(rules), seats, &"1\n".repeat(400));
        assert!(!text.contains("not legal") && !text.contains("the list has"), "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.contains(" has won: ") && last.ends_with(" plays)"), "{last}");
        assert_in_order(&text, &["White: human, Black: random; rules ", "White> Black plays "]);
    }
}

#[test]
fn computers_play_alone_and_chance_decides_between_them() {
    let mut start = position("standard+Z6;challenge=rps", "1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m");
    start.play("Ze2:e4".parse().unwrap());
    start.play("?".parse().unwrap());
    let seats = || [computer(BuiltIn::Random), computer(BuiltIn::Random)];
    let text = played(start, seats(), "");
    assert!(text.contains("chance decides: "), "{text}");
    assert!(text.lines().last().unwrap().contains(" has won: "), "{text}");
    assert_eq!(text, played(start, seats(), ""), "the seed decides alone");
}

#[test]
fn a_removal_is_chosen() {
    let start = position("standard", "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw");
    let text = played(start, people(), "xe2,e4\nlist\n3\nmoves\n");
    assert_in_order(
        &text,
        &[
            "White owes the removal of e2-e6; the GIPF-pieces on e3 and e6 may stay\n",
            "xe2,e4 is not legal: e5 must be taken too\n",
            "remove:\n",
            "   1 xe2,e3,e4,e5        2 xe2,e3,e4,e5,e6     3 xe2,e4,e5\n   4 xe2,e4,e5,e6\n",
            "Black may enter basic pieces\n",
            "  1 White xe2,e4,e5\n",
            "the game stops after 1 play",
        ],
    );
}

#[test]
fn an_extra_move_is_earned_and_skipped_or_made() {
    let start = position("standard+T6", "1g2/5/6/sS(ST)4/6/5/2G1 5T2,5 LB w m");
    let text = played(start, people(), "Te1-e2\ne1-e2\n+-\nundo\n+i5-h5\n");
    assert_in_order(
        &text,
        &[
            "White's TAMSK-stack was pushed onto e5: make its extra move or skip it (+-)\n",
            "e1-e2 is not legal: the extra move is due",
            "Black may enter basic pieces\n",
            "White's TAMSK-stack was pushed onto e5: make its extra move or skip it (+-)\n",
            "Black may enter basic pieces\n",
            "the game stops after 2 plays",
        ],
    );
}

#[test]
fn a_recorded_side_game_is_asked_for() {
    let start =
        position("standard+Z6;challenge=recorded;limit=1", "1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m");
    let script = "Ze2:e4\n=w\n?\n.\ndraw\nhint\n=l\nmoves\n";
    let text = played(start, people(), script);
    assert_in_order(
        &text,
        &[
            "White may enter basic pieces, or move its potential ZÈRTZ on e2\n",
            "White announced Ze2:e4: challenge it (?) or let it pass (.); Black has 1 challenge left\n",
            "Black> =w is not legal: a move is announced: ? to challenge it, . to let it pass\n",
            "White's Ze2:e4 was challenged: does White win (=w), tie (=t) or lose (=l) the side game?\n",
            "side game> . is not legal: the outcome of the side game is due: =w, =t or =l\n",
            "a recorded side game has no chances: =w, =t or =l\n",
            "nobody can say how a side game ends\n",
            "Black: 5 basic pieces in hand; 1 GIPF-piece on the board; 0 challenges left",
            "White may enter basic pieces\n",
            "  1 White Ze2:e4;?;=l\n",
        ],
    );
    // Computers at both seats are no reason not to ask.
    let seats = [computer(BuiltIn::Greedy), computer(BuiltIn::Greedy)];
    let mut challenged = start;
    challenged.play("Ze2:e4".parse().unwrap());
    challenged.play("?".parse().unwrap());
    assert_in_order(&played(challenged, seats, "=t\n"), &["side game> ", " plays "]);
}

#[test]
fn chance_may_decide_for_people() {
    let start = position("standard+Z6;challenge=coin", "1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m");
    let text = played(start, people(), "draw\nZe2:e4\n?\n=t\ndraw\n");
    assert_in_order(
        &text,
        &[
            "there is no side game to decide\n",
            "or draw to let chance decide\n",
            "=t is not legal: the side game cannot end so\n",
            "chance decides: White ",
        ],
    );
}

#[test]
fn a_search_needs_chances() {
    let game = Game::new(start("standard+Z6;challenge=recorded"), 500, 1);
    let seat = Seat::Computer { player: BuiltIn::Greedy.player(), searches: true };
    let (mut input, mut out) = (&b""[..], Vec::new());
    let seats = [Seat::Human, seat];
    let mut table = Table::new(game, seats, BuiltIn::Greedy.player(), &mut input, &mut out);
    let error = table.run().unwrap_err().to_string();
    assert!(error.contains("a network cannot play where side games are recorded"), "{error}");
}

#[test]
fn undo_goes_back_to_ones_own_decision() {
    let seats = [Seat::Human, computer(BuiltIn::Random)];
    let text = played(start("standard"), seats, "undo\ne1-e2\nmoves\nundo\nmoves\nquit\n");
    assert_in_order(
        &text,
        &[
            "there is nothing of yours to take back\n",
            "Black plays ",
            "  1 White e1-e2\n",
            "  2 Black ",
            "White> g2G/5/6/G5g/6/5/g2G 12,12 BB w m\n",
            "the game stops after 0 plays",
        ],
    );
    let text = played(start("standard"), people(), "e1-e2\ni4-h5\nundo\nmoves\nundo\nmoves\n");
    assert_in_order(
        &text,
        &["Black> ", "White> ", "Black>   1 White e1-e2\n", "White> g2G/5/6/G5g/6/5/g2G 12,12"],
    );
}

#[test]
fn games_are_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a game.jsonl");
    let name = path.display();
    let begin = position("standard", "g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw");
    let text = played(begin, people(), &format!("xe2,e4,e5\ni4-h5\nsave {name}\n"));
    assert_in_order(&text, &[&format!("White> saved {name}\n")]);
    let loaded = Game::load(&path).unwrap();
    assert_eq!(loaded.plays().len(), 2);
    assert_eq!(loaded.record().start.as_deref(), Some("g3/5/6/SGSSg2/6/5/2G1 5,5 BB w rw"));
    assert_eq!(loaded.record().to_json() + "\n", std::fs::read_to_string(&path).unwrap());
    let text = played(start("basic"), people(), &format!("load {name}\nmoves\nload nowhere\n"));
    assert_in_order(
        &text,
        &["  1 White xe2,e4,e5\n", "  2 Black i4-h5\n", "cannot open nowhere: ", "after 2 plays"],
    );
    for (line, words) in [
        ("hello", "no JSON object"),
        (r#"{"plays":[]}"#, "no game line"),
        (r#"{"rules":"standard","plays":["e1-e2","e1-e9"]}"#, "play 2"),
        (r#"{"rules":"standard","plays":["Ge1-e2"]}"#, "play 1"),
        (r#"{"format":"gipf-record-99"}"#, "gipf-record-99"),
        ("", "no game"),
    ] {
        std::fs::write(&path, line).unwrap();
        let error = format!("{:#}", Game::load(&path).unwrap_err());
        assert!(error.contains(words) && error.contains("a game.jsonl"), "{error}");
    }
}

#[test]
fn bad_input_is_answered_with_one_line() {
    let script =
        "\n  \nfrobnicate\ne1-e2-e3\ne1-e9\n0\n31\nundoo\nsave\nlist x\nTe1-e2\nx-\n\u{fffd}\n";
    let text = played(start("standard"), people(), script);
    let answers: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("White> "))
        .flat_map(|line| line.split("White> "))
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(
        answers,
        [
            "\"frobnicate\" is not a play (list shows the plays, help the words)",
            "\"e1-e2-e3\" is not a play (list shows the plays, help the words)",
            "\"e1-e9\" is not a play (list shows the plays, help the words)",
            "the list has 1 to 30 (list shows it)",
            "the list has 1 to 30 (list shows it)",
            "\"undoo\": did you mean undo?",
            "save needs a file: save game.jsonl",
            "list takes a page from 1 on, not \"x\"",
            "Te1-e2 is not legal: White has no TAMSK-potential in hand",
            "x- is not legal: no removal is due",
            "\"\u{fffd}\" is not a play (list shows the plays, help the words)",
            "the game stops after 0 plays",
        ]
    );
}

#[test]
fn the_limit_ends_a_game() {
    let game = Game::new(start("standard"), 2, 1);
    let (mut input, mut out) = (&b"1\n1\n1\n"[..], Vec::new());
    Table::new(game, people(), BuiltIn::Greedy.player(), &mut input, &mut out).run().unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("unfinished: the limit of 2 plays is reached (2 plays)\n"), "{text}");
}

#[test]
fn words_explain_and_hint() {
    let text = played(start("ultimate"), people(), "help\nrules\nhint\nlist\nlist 2\n1\nlist 2\n");
    assert_in_order(
        &text,
        &[
            "White must enter a GIPF-piece, its first piece\n",
            "  list [PAGE]  the plays there are, by number\n",
            "rules      ultimate\n",
            "stages     White: GIPF-pieces end with its first loaded piece, both with its first basic piece\n",
            "greedy would play G",
            "enter a GIPF-piece:\n",
            "the list ends on page 1\n",
        ],
    );
    let after = played(start("ultimate"), people(), "1\n1\nlist\nlist 2\n");
    assert_in_order(
        &after,
        &[
            "White may enter GIPF-pieces, loaded pieces and basic pieces\n",
            "enter a basic piece:\n",
            "page 1 of 2; list 2 shows the next\n",
            "White> enter a piece loaded with DVONN:\n",
        ],
    );
}
