//! What must hold for any text that the game reads: no panic, and what is read is written again.
//!
//! Each function is a fuzz target; `core/tests/fuzz_cases.rs` calls it with every seed.

use gipf_core::notation;
use gipf_core::record::GameRecord;
use gipf_core::{Phase, Play, Position, Rules, Symmetry};

/// Rules strings that the first byte of a text chooses from, `A` the first.
pub const RULES: [&str; 16] = [
    "basic",
    "standard",
    "tournament",
    "ultimate",
    "standard+T6",
    "standard+Z6",
    "standard+D6",
    "standard+Y6",
    "standard+P6",
    "standard+P6;punct=convert",
    "standard+D4P4;challenge=coin;punct=convert",
    "tournament+T4Z4D4",
    "tournament+T6|Z6",
    "standard+T4Z4D4;challenge=rps;limit=2",
    "ultimate;challenge=recorded;punct=convert",
    "basic:18/15+T6;challenge=chance:0/0.25/0.75;kinds=T",
];

fn rules(text: &str) -> Rules {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Splits a text into the rules that its first byte chooses and the rest.
fn choose(text: &str) -> Option<(Rules, &str)> {
    let letter = text.bytes().next().filter(u8::is_ascii)?;
    let choice = letter.wrapping_sub(b'A') as usize % RULES.len();
    Some((rules(RULES[choice]), &text[1..]))
}

/// The position with this text, which must be a position's own text.
fn read_back(position: &Position) -> Position {
    let text = position.to_string();
    let again = Position::parse(position.rules(), &text);
    let again = again.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(again, *position, "{text}");
    again
}

// The targets. Each says whether the text was one; of others nothing is asked but an error.

/// A rules string.
pub fn rules_string(text: &str) -> bool {
    let Ok(read) = text.parse::<Rules>() else { return false };
    let canonical = read.to_string();
    assert_eq!(canonical.parse(), Ok(read), "{text:?} prints as {canonical:?}");
    assert_eq!(rules(&canonical).to_string(), canonical, "{text:?}");
    read_back(&read.start());
    true
}

/// A position text, after the letter of its rules.
pub fn position_text(text: &str) -> bool {
    let Some((rules, text)) = choose(text) else { return false };
    let Ok(position) = Position::parse(&rules, text) else { return false };
    assert_eq!(position.to_string(), text);
    let (mut legal, mut actions) = (Vec::new(), Vec::new());
    position.legal_plays(&mut legal);
    position.actions(&mut actions);
    assert_eq!(legal.is_empty(), position.is_over(), "{text}");
    assert!(actions.iter().all(|action| legal.contains(action)), "{text}");
    for play in legal {
        assert_eq!(play.to_string().parse(), Ok(play), "{text}");
        assert!(actions.contains(&position.action_for(play)), "{play} in {text}");
        let mut after = position;
        after.try_play(play).unwrap_or_else(|error| panic!("{error}"));
        read_back(&after);
    }
    for symmetry in Symmetry::ALL {
        let image = read_back(&position.transform(symmetry));
        assert_eq!(settled(image.transform(symmetry.inverse())), settled(position), "{text}");
    }
    true
}

/// The position after an announced move was let pass: an announcement names one of the ways onto
/// an empty spot, and a symmetry may change which.
fn settled(mut position: Position) -> Position {
    let mut legal = Vec::new();
    if let Phase::Challenge | Phase::SideGame = position.phase() {
        position.legal_plays(&mut legal);
        let pass = legal.contains(&Play::PASS).then_some(Play::PASS);
        position.play(pass.unwrap_or(legal[0]));
    }
    position
}

/// A play.
pub fn play_text(text: &str) -> bool {
    let Ok(play) = text.parse::<Play>() else { return false };
    assert_eq!(play.to_string(), text);
    for choice in RULES {
        let mut position = rules(choice).start();
        if position.try_play(play).is_ok() {
            read_back(&position);
        }
    }
    true
}

/// A game in official notation, after the letter of its rules.
pub fn official_notation(text: &str) -> bool {
    let Some((rules, text)) = choose(text) else { return false };
    notation::guess_rules(text);
    let Ok(game) = notation::read_official(&rules, text) else { return false };
    let mut position = rules.start();
    for play in game.plays {
        position.try_play(play).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(read_back(&position), game.last);
    true
}

/// A game record.
pub fn record(text: &str) -> bool {
    let Ok(record) = GameRecord::from_json(text) else { return false };
    let Ok(game) = record.replay() else { return false };
    assert_eq!(game.positions.len(), game.plays.len() + 1);
    game.positions.iter().for_each(|position| _ = read_back(position));
    assert_eq!(GameRecord::from_json(&record.to_json()).as_ref(), Ok(&record), "{text}");
    true
}
