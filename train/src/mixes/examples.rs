//! Games that show what a table says.

use super::sitting::Sitting;
use super::table::MixTable;

/// A game worth looking at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenGame {
    /// The nonce of its worker.
    pub worker: String,
    /// Its number.
    pub number: u64,
    /// What its rules string stands out by.
    pub reasons: Vec<&'static str>,
}

/// At most `count` games: one by each rules string that stands out, of middle length among those that are over; by the sharpest
/// one that whose value moved most.
pub fn chosen_games(sitting: &Sitting<'_>, table: &MixTable, count: usize) -> Vec<ChosenGame> {
    let played = |line: &&usize| table.lines.get(**line).is_some_and(|line| line.games > 0);
    let ranked = || table.ranking.iter().filter(played).copied();
    let candidates = [
        (ranked().next(), "White's highest score"),
        (ranked().next_back(), "White's lowest score"),
        (table.fairest, "the fairest"),
        (table.sharpest, "the sharpest"),
        (table.longest, "the longest"),
    ];
    let mut lines: Vec<(usize, Vec<&'static str>)> = Vec::new();
    for (line, reason) in candidates.into_iter().filter_map(|(line, reason)| Some((line?, reason)))
    {
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, reasons)) => reasons.push(reason),
            None => lines.push((line, vec![reason])),
        }
    }
    let chosen = lines.into_iter().filter_map(|(line, reasons)| {
        let mut games = sitting.counted(line);
        if games.iter().any(|(_, game)| game.result.for_white() != 0) {
            games.retain(|(_, game)| game.result.for_white() != 0);
        }
        let (number, _) = if table.sharpest == Some(line) {
            games.into_iter().max_by(|(_, a), (_, b)| a.swings.0.total_cmp(&b.swings.0))?
        } else {
            games.sort_by_key(|(_, game)| game.plays);
            games.get(games.len() / 2).copied()?
        };
        Some(ChosenGame { worker: sitting.identity(line).worker.clone(), number, reasons })
    });
    chosen.take(count).collect()
}
