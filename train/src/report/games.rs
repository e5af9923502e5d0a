//! Games to look at: chosen from the newest, replayed by the rules, and told as the page's viewer reads them.

use std::cmp::Ordering;

use gipf_core::position::RemovalLine;
use gipf_core::record::{GameRecord, GameResult, POLICY_UNIT, SearchRecord};
use gipf_core::{Color, Play, PlayKind, Position, Potential, Spot, notation};
use serde::Serialize;

use super::html::grouped;
use super::rated::RatedGame;

/// Plays of a search that are shown, the likeliest first.
const TOP_PLAYS: usize = 5;

/// Why a game is shown that has nothing else to it.
const NEWEST: &str = "among the newest";

/// A game as the viewer reads it.
#[derive(Debug, Serialize)]
pub(super) struct ShownGame {
    /// What it is called in the list of games.
    title: String,
    /// Why it was chosen, and how it ended.
    about: String,
    /// Its rules string.
    rules: String,
    /// Its plays after the first position, in order.
    plays: Vec<ShownPlay>,
    /// The positions: one before each play, and the last one.
    positions: Vec<ShownPosition>,
}

/// A play.
#[derive(Debug, Serialize)]
struct ShownPlay {
    /// Its text.
    text: String,
    /// Its text in official notation; empty for a row left standing.
    official: String,
    /// Who chose it: `w`, `b`, or `-` for chance.
    by: char,
    /// Spots on which something changed.
    changed: Vec<String>,
    /// Lines of rows that it deals with, by the two ends of the segment.
    rows: Vec<[String; 2]>,
    /// What the search before it found.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<ShownSearch>,
}

/// A position.
#[derive(Debug, Serialize)]
struct ShownPosition {
    /// Its text (rules, section 10).
    text: String,
    /// White's and Black's basic pieces that are captured.
    captured: [u32; 2],
    /// White's and Black's potentials that left the game, as in a mix: `T2Z1`.
    spent: [String; 2],
}

/// What a search found.
#[derive(Debug, Serialize)]
struct ShownSearch {
    /// Visits of the root.
    visits: u32,
    /// The value after the search, from White's side, -1 to 1.
    q: f32,
    /// The network's own value, from White's side, -1 to 1.
    v: f32,
    /// Whether it was a full search.
    full: bool,
    /// The likeliest plays with their shares, 0 to 1.
    top: Vec<(String, f32)>,
}

/// A game and why it is shown.
struct Choice<'a> {
    record: &'a GameRecord,
    /// White's and Black's names, where they are known.
    players: Option<&'a [String; 2]>,
    reasons: Vec<&'static str>,
}

/// Chooses at most `count` games, one for each thing worth seeing, then the newest of the others. `records` are the newest
/// games of a run, oldest first; what cannot be replayed is told in `faults` and left out.
pub(super) fn self_play(
    records: &[GameRecord],
    count: usize,
    faults: &mut Vec<String>,
) -> Vec<ShownGame> {
    let choices = choose(records, count);
    show(&choices, "Self-play", faults)
}

/// Shows rated games, the newest first.
pub(super) fn rated<'a>(games: &'a [RatedGame], faults: &mut Vec<String>) -> Vec<ShownGame> {
    let choice = |game: &'a RatedGame| Choice {
        record: &game.record,
        players: game.players.as_ref(),
        reasons: vec![NEWEST],
    };
    let choices: Vec<Choice<'a>> = games.iter().rev().map(choice).collect();
    show(&choices, "Rated game", faults)
}

/// A game of a study of mixes, with why it is shown.
///
/// # Errors
/// What cannot be replayed, in words.
pub(super) fn example(
    record: &GameRecord,
    reasons: Vec<&'static str>,
) -> Result<ShownGame, String> {
    let choice = Choice { record, players: None, reasons };
    shown_game(&choice, &record.rules)
}

fn choose(records: &[GameRecord], count: usize) -> Vec<Choice<'_>> {
    let over = || records.iter().filter(|record| record.result != GameResult::Unfinished);
    let won = |result| records.iter().rfind(|record| record.result == result);
    let length = |record: &&GameRecord| record.plays.len();
    let behind = |a: &&GameRecord, b: &&GameRecord| {
        winners_worst(a).partial_cmp(&winners_worst(b)).unwrap_or(Ordering::Equal)
    };
    let candidates = [
        (over().next_back(), "the newest that is over"),
        (won(GameResult::White), "White's newest win"),
        (won(GameResult::Black), "Black's newest win"),
        (over().min_by(behind), "its winner was furthest behind"),
        (over().max_by_key(length), "the longest that is over"),
        (over().min_by_key(length), "the shortest that is over"),
        (won(GameResult::Unfinished), "the newest that is unfinished"),
    ];
    let newest = records.iter().rev().map(|record| (Some(record), NEWEST));
    let mut choices: Vec<Choice<'_>> = Vec::new();
    for (candidate, reason) in candidates.into_iter().chain(newest) {
        let Some(record) = candidate else { continue };
        let room = choices.len() < count;
        match choices.iter_mut().find(|choice| choice.record.id == record.id) {
            // Any game is among the newest: that is a reason only where there is no other.
            Some(choice) => choice.reasons.extend((reason != NEWEST).then_some(reason)),
            None if room => choices.push(Choice { record, players: None, reasons: vec![reason] }),
            None => {}
        }
    }
    choices
}

/// The lowest search value that the winner of a game saw, from its side; infinite without a winner or a search.
fn winners_worst(record: &GameRecord) -> f32 {
    let sign = f32::from(record.result.for_white());
    let values = record.plays.iter().filter_map(|play| play.s.as_ref()).map(|s| sign * s.q);
    if sign == 0.0 { f32::INFINITY } else { values.fold(f32::INFINITY, f32::min) }
}

fn show(choices: &[Choice<'_>], kind: &str, faults: &mut Vec<String>) -> Vec<ShownGame> {
    let mut shown = Vec::new();
    for choice in choices {
        match shown_game(choice, &format!("{kind} {}", shown.len() + 1)) {
            Ok(game) => shown.push(game),
            Err(fault) => {
                let id = &choice.record.id;
                faults.push(format!("game {} of {}: {fault}", id.seq, id.run));
            }
        }
    }
    shown
}

fn shown_game(choice: &Choice<'_>, title: &str) -> Result<ShownGame, String> {
    let record = choice.record;
    let game = record.replay().map_err(|error| error.to_string())?;
    let outcome = match record.result {
        GameResult::White => "White wins",
        GameResult::Black => "Black wins",
        GameResult::Unfinished => "unfinished",
    };
    let length = game.plays.len();
    let mut about = format!("{}; {}", choice.reasons.join(", "), players(choice, &game.positions));
    if let Some(reason) = &record.forfeit {
        about += &format!("; forfeited: {reason}");
    }
    let plays = game.plays.iter().zip(&record.plays).zip(game.positions.windows(2));
    Ok(ShownGame {
        title: format!("{title}: {outcome}, {length} plays ({})", choice.reasons.join(", ")),
        about,
        rules: record.rules.clone(),
        plays: plays
            .map(|((play, recorded), around)| {
                shown_play(*play, recorded.s.as_ref(), &around[0], &around[1])
            })
            .collect(),
        positions: game.positions.iter().map(shown_position).collect(),
    })
}

/// Who played White and Black: by name, else the checkpoints that their searches tell of.
fn players(choice: &Choice<'_>, positions: &[Position]) -> String {
    if let Some([white, black]) = choice.players {
        return format!("White {white}, Black {black}");
    }
    let record = choice.record;
    let player = |color: Color| {
        let searches = record.plays.iter().zip(positions).filter_map(|(play, position)| {
            play.s.as_ref().filter(|_| position.decider() == Some(color))
        });
        let steps = searches.map(|search| search.ckpt);
        match (steps.clone().min(), steps.max()) {
            (Some(first), Some(last)) if first == last => format!("step {}", grouped(first)),
            (Some(first), Some(last)) => format!("steps {} to {}", grouped(first), grouped(last)),
            _ => "a player without a search".to_owned(),
        }
    };
    let [white, black] = Color::ALL.map(player);
    if white == black { format!("both {white}") } else { format!("White {white}, Black {black}") }
}

fn shown_play(
    play: Play,
    search: Option<&SearchRecord>,
    before: &Position,
    after: &Position,
) -> ShownPlay {
    let mut lines = Vec::new();
    if let PlayKind::Remove(taken) = play.kind() {
        before.removal_lines(taken, &mut lines);
    }
    let ends = |line: &RemovalLine| {
        Some([line.segment.first()?.to_string(), line.segment.last()?.to_string()])
    };
    let differs = |spot: &Spot| before.stack(*spot) != after.stack(*spot);
    ShownPlay {
        text: play.to_string(),
        official: notation::write_official(before, play),
        by: before.decider().map_or('-', Color::letter),
        changed: Spot::ALL.into_iter().filter(differs).map(|spot| spot.to_string()).collect(),
        rows: lines.iter().filter_map(ends).collect(),
        search: search.map(shown_search),
    }
}

fn shown_search(search: &SearchRecord) -> ShownSearch {
    let mut top: Vec<&(String, u16)> = search.pi.iter().collect();
    // Stable: among equals the record's order stays.
    top.sort_by_key(|(_, share)| std::cmp::Reverse(*share));
    let share = |weight: u16| f32::from(weight) / f32::from(POLICY_UNIT);
    ShownSearch {
        visits: search.n,
        q: search.q,
        v: search.v,
        full: search.full,
        top: top.into_iter().take(TOP_PLAYS).map(|(play, w)| (play.clone(), share(*w))).collect(),
    }
}

fn shown_position(position: &Position) -> ShownPosition {
    let rules = position.rules();
    let captured = Color::ALL
        .map(|color| u32::from(rules.basic(color).saturating_sub(position.basic_pieces(color))));
    let mut potentials = Color::ALL.map(|color| {
        let (all, hand) = (rules.mix(color), position.hand_potentials(color));
        Potential::ALL.map(|kind| i64::from(all[kind.index()]) - i64::from(hand[kind.index()]))
    });
    for stack in Spot::ALL.into_iter().filter_map(|spot| position.stack(spot)) {
        if let Some(kind) = stack.potential {
            // Colours alternate from the lowest potential on.
            let lower = i64::from(stack.count.div_ceil(2));
            potentials[stack.first.index()][kind.index()] -= lower;
            potentials[stack.first.other().index()][kind.index()] -= i64::from(stack.count) - lower;
        }
    }
    let mix = |counts: [i64; 5]| -> String {
        let parts = Potential::ALL.map(|kind| match counts[kind.index()] {
            count if count > 0 => format!("{}{count}", kind.letter()),
            _ => String::new(),
        });
        parts.concat()
    };
    ShownPosition { text: position.to_string(), captured, spent: potentials.map(mix) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::game;

    fn records() -> Vec<GameRecord> {
        (0..40).map(|seq| game(["standard", "ultimate"][seq as usize % 2], seq, 300)).collect()
    }

    #[test]
    fn every_reason_finds_its_game_and_no_game_comes_twice() {
        let records = records();
        let choices = choose(&records, 12);
        assert_eq!(choices.len(), 12);
        let mut ids: Vec<u64> = choices.iter().map(|choice| choice.record.id.seq).collect();
        let with = |reason: &str| {
            let found = choices.iter().find(|choice| choice.reasons.contains(&reason));
            found.map(|choice| choice.record).expect(reason)
        };
        let over = |record: &&GameRecord| record.result != GameResult::Unfinished;
        let lengths = || records.iter().filter(over).map(|record| record.plays.len());
        assert_eq!(with("the longest that is over").plays.len(), lengths().max().expect("one"));
        assert_eq!(with("the shortest that is over").plays.len(), lengths().min().expect("one"));
        assert_eq!(with("White's newest win").result, GameResult::White);
        assert_eq!(with("Black's newest win").result, GameResult::Black);
        let worst = records.iter().map(winners_worst).fold(f32::INFINITY, f32::min);
        assert_eq!(winners_worst(with("its winner was furthest behind")), worst);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 12);
        assert_eq!(choose(&records, 0).len(), 0);
        assert_eq!(choose(&records, 99).len(), 40);
        assert_eq!(choose(&[], 9).len(), 0);
    }

    #[test]
    fn pieces_are_conserved_in_every_position() {
        let mut faults = Vec::new();
        for record in records() {
            let rules: gipf_core::Rules = record.rules.parse().expect("rules");
            let shown = show(
                &[Choice { record: &record, players: None, reasons: vec![] }],
                "",
                &mut faults,
            );
            assert_eq!(shown[0].positions.len(), record.plays.len() + 1);
            let mut captured = [0, 0];
            for position in &shown[0].positions {
                let [board, hands, ..] = position.text.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{}", position.text)
                };
                for (color, hand) in hands.split(',').enumerate() {
                    let (small, large) = [('S', 'G'), ('s', 'g')][color];
                    let on_board = board.matches(small).count() + 2 * board.matches(large).count();
                    let hand: usize = hand
                        .split(|c: char| !c.is_ascii_digit())
                        .next()
                        .and_then(|digits| digits.parse().ok())
                        .expect("a hand");
                    let gone = position.captured[color];
                    assert_eq!(
                        on_board + hand + gone as usize,
                        usize::from(rules.basic(Color::ALL[color]))
                    );
                    assert!(gone >= captured[color], "captured pieces do not come back");
                    captured[color] = gone;
                }
            }
        }
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn searches_and_faults_are_told() {
        let mut record = game("standard", 3, 20);
        let mut faults = Vec::new();
        let shown = self_play(std::slice::from_ref(&record), 1, &mut faults);
        let search = shown[0].plays[0].search.as_ref().expect("a search");
        assert_eq!(search.top.len(), TOP_PLAYS);
        assert!(search.top.is_sorted_by(|a, b| a.1 >= b.1));
        record.plays[4].p = "e1-e9".to_owned();
        assert!(self_play(&[record.clone()], 1, &mut faults).is_empty());
        assert!(faults[0].starts_with("game 3 of test: play 5"), "{faults:?}");
        assert!(rated(&[], &mut faults).is_empty());
    }
}
