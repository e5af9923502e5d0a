//! Games as texts to copy and paste: the official notation where it can tell the whole game, else a list of plays.

use gipf_core::{Color, Play, Rules, notation};
use serde::{Deserialize, Serialize};

use super::Fault;
use super::game::{Game, Replay};
use crate::games::PlayedGame;
use crate::messages::echo;

/// The longest text that is read, in bytes: twice a game of 500 long plays.
pub const MOST_BYTES: usize = 64 * 1024;

/// A player's move: its plays up to where the other one decides, and the side games they led to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Turn {
    /// The number of the pair of moves, from 1.
    pub number: usize,
    /// `w` or `b`: whose move it is. A game that is set up may begin with Black's.
    pub by: char,
    /// Its plays.
    pub plays: Vec<TurnPlay>,
}

/// A play of a move.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TurnPlay {
    /// The play's text.
    pub play: String,
    /// The same in official notation; empty for a row that was left standing, which has no sign there.
    pub official: String,
    /// Plays made after it, from 1.
    pub ply: usize,
}

/// The moves of a game.
pub fn turns(replay: &Replay) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, (play, before)) in replay.plays.iter().zip(&replay.positions).enumerate() {
        // Chance plays nothing of its own: it ends the challenge that somebody made.
        let by = before.decider().map(Color::letter);
        let play = TurnPlay {
            play: play.to_string(),
            official: notation::write_official(before, *play),
            ply: index + 1,
        };
        match turns.last_mut() {
            Some(turn) if by.is_none_or(|by| turn.by == by) => turn.plays.push(play),
            last => {
                let number = match (last, by) {
                    (None, _) => 1,
                    (Some(last), Some('w')) => last.number + 1,
                    (Some(last), _) => last.number,
                };
                let by = by.unwrap_or(before.mover().letter());
                turns.push(Turn { number, by, plays: vec![play] });
            }
        }
    }
    turns
}

/// The game as a text: its rules and first position as comments, then its moves.
///
/// ```
/// use gipf_player::desk::{Game, text};
///
/// let game = Game { rules: "basic".to_owned(), start: None, plays: vec!["e1-e2".to_owned(), "b1-b2".to_owned()] };
/// let written = text::write(&game.replay()?);
/// assert_eq!(written, "# rules: basic\n1. e1-e3 / b1-b3\n");
/// assert_eq!(text::read(&written)?, game);
/// # Ok::<(), gipf_player::desk::Fault>(())
/// ```
pub fn write(replay: &Replay) -> String {
    let mut text = format!("# rules: {}\n", replay.rules);
    let official = official(replay);
    let reads_back = !replay.set_up
        && notation::read_official(&replay.rules, &official)
            .is_ok_and(|game| same_game(replay, &game.plays));
    if reads_back {
        return text + &official;
    }
    // The official notation has no set-up positions, and no sign for a row that the other player leaves standing.
    if replay.set_up {
        text += &format!("# position: {}\n", replay.positions[0]);
    }
    for turn in turns(replay) {
        let plays: Vec<&str> = turn.plays.iter().map(|play| play.play.as_str()).collect();
        text += &plays.join(";");
        text.push('\n');
    }
    text
}

/// Whether these plays lead through the same positions: an entry that pushes nothing has one text in the official notation,
/// whatever its dot.
fn same_game(replay: &Replay, plays: &[Play]) -> bool {
    plays.len() == replay.plays.len()
        && plays.iter().zip(&replay.plays).zip(&replay.positions).all(|((read, made), position)| {
            position.action_for(*read) == position.action_for(*made)
        })
}

fn official(replay: &Replay) -> String {
    let mut text = String::new();
    for turn in turns(replay) {
        let parts: Vec<&str> = turn
            .plays
            .iter()
            .map(|play| play.official.as_str())
            .filter(|part| !part.is_empty())
            .collect();
        let head = match turn.by {
            'w' if turn.number == 1 => "1. ".to_owned(),
            'w' => format!("\n{}. ", turn.number),
            _ => " / ".to_owned(),
        };
        text += &head;
        text += &parts.join(";");
    }
    text + "\n"
}

/// The game that a pasted text tells: a game in official notation, a list of plays, or a line of a record or game file.
///
/// Comments (`#`) may name the rules and the first position, as [`write`] does. Official notation without them is taken for
/// tournament if a GIPF-piece is entered first, else for standard.
///
/// # Errors
/// [`Fault`] that names the move or play at fault.
pub fn read(text: &str) -> Result<Game, Fault> {
    if text.len() > MOST_BYTES {
        return Err(Fault::new(format!(
            "the text has {} bytes, a game has {MOST_BYTES} at most",
            text.len()
        )));
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') {
        let game = PlayedGame::from_line(text).map_err(|error| Fault::new(error.to_string()))?;
        let start = game.positions[0];
        return Ok(Game {
            rules: game.rules().to_string(),
            start: (start != game.rules().start()).then(|| start.to_string()),
            plays: game.plays.iter().map(ToString::to_string).collect(),
        });
    }
    let comment = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once('#')?.1.trim().strip_prefix(key))
            .map(|value| value.trim().to_owned())
            .next()
    };
    let (rules, start) = (comment("rules:"), comment("position:"));
    let words: Vec<&str> = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace())
        .collect();
    if words.is_empty() && rules.is_none() {
        return Err(Fault::new("there is no game in this text"));
    }
    let numbered = words.first().is_some_and(|word| {
        word.strip_suffix('.').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    });
    if !numbered {
        let plays = words.iter().flat_map(|word| word.split(';')).filter(|play| !play.is_empty());
        let game = Game {
            rules: rules.unwrap_or_else(|| notation::guess_rules(text).to_owned()),
            start,
            plays: plays.map(str::to_owned).collect(),
        };
        return game.replay().map(|replay| replay.to_game());
    }
    if start.is_some() {
        let fault = "the official notation tells whole games only: a game that was set up is a list of plays";
        return Err(Fault::new(fault));
    }
    let rules = rules.unwrap_or_else(|| notation::guess_rules(text).to_owned());
    let rules: Rules =
        rules.parse().map_err(|error| Fault::new(format!("rules '{}': {error}", echo(&rules))))?;
    let official =
        notation::read_official(&rules, text).map_err(|error| Fault::new(error.to_string()))?;
    let mut replay = Replay::start(rules);
    official.plays.into_iter().try_for_each(|play| replay.make(play))?;
    Ok(replay.to_game())
}
