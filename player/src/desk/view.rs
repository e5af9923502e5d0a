//! A position as somebody sees it at a board.

use std::collections::BTreeMap;

use gipf_core::{Color, Phase, Play, PlayKind, Position, Potential, Spot, Stack};
use serde::{Deserialize, Serialize};

use super::game::{Game, Replay};
use super::options::{Options, names, path};
use super::text::{Turn, turns};
use crate::situation;

/// The position after a game's last play.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct View {
    /// The game, its texts in canonical form.
    pub game: Game,
    /// The position's text.
    pub position: String,
    /// `regular`, `owed` and `earned` (extra moves), `removal`, `challenge`, `side_game` or `over`.
    pub phase: String,
    /// `w` or `b`: whose turn it is.
    pub mover: char,
    /// `w` or `b`: who decides; absent where chance does or the game is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<char>,
    /// How the game ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// What the rules ask for, in words.
    pub situation: String,
    /// What stands on each occupied spot: letters from bottom to top, upper case White's, lower case Black's.
    pub stacks: BTreeMap<String, String>,
    /// White's side of things, then Black's.
    pub sides: [Side; 2],
    /// What the last play did, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    /// What may be played; nothing once the game is over.
    pub options: Options,
    /// The game's moves in official notation.
    pub turns: Vec<Turn>,
    /// The rules, taken apart.
    pub rules: RulesView,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct End {
    /// `w` or `b`; absent for an unfinished game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<char>,
    /// `gipf`: the loser has no GIPF-piece left; `play`: it has to play and cannot; `limit`: the limit of plays.
    pub reason: String,
}

/// What a colour has.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Side {
    /// Basic pieces in hand.
    pub hand: u8,
    /// Potentials in hand, in the order T Z D Y P.
    pub potentials: [u8; 5],
    /// Its GIPF-pieces on the board.
    pub gipfs: u32,
    /// Its basic pieces that were captured.
    pub captured: u8,
    /// `G`, `L` or `B`: what it may still enter (rules, section 5).
    pub stage: char,
    /// Whether its first piece, a GIPF-piece, is still to be entered.
    pub must_begin: bool,
    /// Challenges it has left; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenges: Option<u32>,
}

/// What a play did.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Last {
    /// The play's text.
    pub play: String,
    /// `w` or `b`: who chose it; absent for an outcome of chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<char>,
    /// Where it came from, for entries (a dot) and moves (a spot).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Spots that it filled: an entry's from the first one to where the last stack came to rest, a move's target.
    pub path: Vec<String>,
    /// Spots whose top it took, with what stood there before.
    pub taken: BTreeMap<String, String>,
    /// Ends of the rows it dealt with.
    pub rows: Vec<[String; 2]>,
}

/// Rules, taken apart.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RulesView {
    /// `basic`, `standard` or `tournament`.
    pub variant: String,
    /// Basic pieces of White and of Black.
    pub basic: [u8; 2],
    /// Potentials of White and of Black, in the order T Z D Y P.
    pub mixes: [[u8; 5]; 2],
    /// Whether moves of potentials may be challenged.
    pub challenge: bool,
    /// Whether a search can play by them: not where side games are played elsewhere.
    pub searchable: bool,
}

impl View {
    /// The position after a game's last play.
    pub fn of(replay: &Replay) -> View {
        let position = replay.last();
        let end = end(replay);
        View {
            game: replay.to_game(),
            position: position.to_string(),
            phase: match position.phase() {
                _ if end.is_some() => "over",
                Phase::ExtraOwed => "owed",
                Phase::Regular => "regular",
                Phase::ExtraEarned => "earned",
                Phase::Removal(_) => "removal",
                Phase::Challenge => "challenge",
                Phase::SideGame => "side_game",
                Phase::Won(_) => "over",
            }
            .to_owned(),
            mover: position.mover().letter(),
            decider: position.decider().filter(|_| end.is_none()).map(Color::letter),
            situation: situation::situation(position),
            stacks: stacks(position),
            sides: Color::ALL.map(|color| side(position, color)),
            last: last(replay),
            options: if end.is_some() { Options::default() } else { Options::of(position) },
            turns: turns(replay),
            rules: rules(position),
            end,
        }
    }
}

fn end(replay: &Replay) -> Option<End> {
    if replay.is_unfinished() {
        return Some(End { winner: None, reason: "limit".to_owned() });
    }
    let position = replay.last();
    let winner = position.winner()?;
    let reason = if situation::lost_its_gipfs(position, winner.other()) { "gipf" } else { "play" };
    Some(End { winner: Some(winner.letter()), reason: reason.to_owned() })
}

fn stacks(position: &Position) -> BTreeMap<String, String> {
    position.occupied().iter().map(|spot| (spot.to_string(), letters(position, spot))).collect()
}

/// A stack's letters as position texts have them, without the parentheses.
fn letters(position: &Position, spot: Spot) -> String {
    let Some(Stack { base, potential, first, count }) = position.stack(spot) else {
        return String::new();
    };
    let cased = |letter: char, color: Color| match color {
        Color::White => letter,
        Color::Black => letter.to_ascii_lowercase(),
    };
    let bottom = base.map(|(color, gipf)| cased(if gipf { 'G' } else { 'S' }, color));
    let above = potential.into_iter().flat_map(|kind: Potential| {
        (0..count).map(move |level| {
            cased(kind.letter(), if level % 2 == 0 { first } else { first.other() })
        })
    });
    bottom.into_iter().chain(above).collect()
}

fn side(position: &Position, color: Color) -> Side {
    Side {
        hand: position.hand_basic(color),
        potentials: position.hand_potentials(color),
        gipfs: position.gipf_count(color),
        captured: position.rules().basic(color).saturating_sub(position.basic_pieces(color)),
        stage: position.stage(color).letter(),
        must_begin: situation::must_begin(position, color),
        challenges: position.challenges_left(color),
    }
}

fn last(replay: &Replay) -> Option<Last> {
    let &play = replay.plays.last()?;
    let before = &replay.positions[replay.plays.len() - 1];
    let mut last = Last {
        play: play.to_string(),
        by: before.decider().map(Color::letter),
        from: None,
        path: Vec::new(),
        taken: BTreeMap::new(),
        rows: Vec::new(),
    };
    // A move is announced before it is made: what was done is then the announced play, let pass or won.
    let after = replay.last();
    let done = match play {
        Play::PASS | Play::WIN | Play::TIE => before.announced(),
        _ if after.announced().is_some() => None,
        _ => Some(play),
    };
    match done.map(Play::kind) {
        Some(PlayKind::Enter { entry, .. } | PlayKind::Extra(entry)) => {
            last.from = Some(entry.dot_name());
            last.path = path(before, entry).iter().map(ToString::to_string).collect();
        }
        Some(PlayKind::Move { from, to, .. }) => {
            last.from = Some(from.to_string());
            last.path.push(to.to_string());
        }
        Some(PlayKind::Remove(taken)) => {
            last.taken =
                taken.iter().map(|spot| (spot.to_string(), letters(before, spot))).collect();
            let mut lines = Vec::new();
            before.removal_lines(taken, &mut lines);
            let ends = |segment| {
                let spots = names(segment);
                Some([spots.first()?.clone(), spots.last()?.clone()])
            };
            last.rows = lines.iter().filter_map(|line| ends(line.segment)).collect();
        }
        _ => {}
    }
    Some(last)
}

fn rules(position: &Position) -> RulesView {
    let rules = position.rules();
    RulesView {
        variant: rules.variant().name().to_owned(),
        basic: Color::ALL.map(|color| rules.basic(color)),
        mixes: Color::ALL.map(|color| rules.mix(color)),
        challenge: rules.challenge().is_some(),
        searchable: rules.is_searchable(),
    }
}
