//! The numbered list of plays, grouped by kind.

use gipf_core::{Play, PlayKind, Position, Potential};
use gipf_player::situation::entry_words;

/// Columns of text in a page.
const WIDTH: usize = 78;
/// Lines in a page.
const PAGE: usize = 20;

/// What can be played here, in groups; the plays are numbered from 1 through all of them. An entry onto an empty spot stands
/// once, with its first dot, for it has the same result from each.
#[derive(Debug)]
pub(super) struct Choices {
    groups: Vec<(String, Vec<Play>)>,
}

impl Choices {
    pub(super) fn of(position: &Position) -> Self {
        let mut plays = Vec::new();
        position.actions(&mut plays);
        let mut named: Vec<(usize, String, Play)> =
            plays.iter().map(|&play| (rank(play), play.to_string(), play)).collect();
        named.sort();
        let mut groups: Vec<(String, Vec<Play>)> = Vec::new();
        let mut last = None;
        for (rank, _, play) in named {
            match groups.last_mut().filter(|_| last == Some(rank)) {
                Some((_, plays)) => plays.push(play),
                None => groups.push((heading(play), vec![play])),
            }
            last = Some(rank);
        }
        Choices { groups }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|(_, plays)| plays.len()).sum()
    }

    /// The play with this number, from 1.
    pub(super) fn get(&self, number: usize) -> Option<Play> {
        self.groups.iter().flat_map(|(_, plays)| plays).nth(number.checked_sub(1)?).copied()
    }

    /// How many pages the list takes, 1 or more.
    pub(super) fn pages(&self) -> usize {
        self.lines().len().div_ceil(PAGE).max(1)
    }

    /// A page, from 1.
    pub(super) fn page(&self, page: usize) -> Vec<String> {
        self.lines().into_iter().skip(page.saturating_sub(1) * PAGE).take(PAGE).collect()
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut number = 0;
        for (heading, plays) in &self.groups {
            lines.push(format!("{heading}:"));
            let width = plays.iter().map(|play| play.to_string().len()).max().unwrap_or(0) + 2;
            let columns = (WIDTH / (width + 5)).max(1);
            for row in plays.chunks(columns) {
                let mut line = String::new();
                for play in row {
                    number += 1;
                    line += &format!("{number:>4} {:<width$}", play.to_string());
                }
                lines.push(line.trim_end().to_owned());
            }
        }
        lines
    }
}

/// The order of the groups.
fn rank(play: Play) -> usize {
    match play.kind() {
        PlayKind::Enter { kind, .. } => kind.index(),
        PlayKind::Move { kind, .. } => 10 + kind.index(),
        PlayKind::Extra(_) => 20,
        PlayKind::SkipExtra => 21,
        PlayKind::Remove(_) => 22,
        PlayKind::Decline => 23,
        PlayKind::Challenge => 24,
        PlayKind::Pass => 25,
        PlayKind::Outcome(_) => 26,
    }
}

fn heading(play: Play) -> String {
    match play.kind() {
        PlayKind::Enter { kind, .. } => format!("enter {}", entry_words(kind)),
        PlayKind::Move { kind, .. } => format!("{} {}", verb(kind), kind.name()),
        PlayKind::Extra(_) => "make the extra move".to_owned(),
        PlayKind::SkipExtra => "skip the extra move".to_owned(),
        PlayKind::Remove(_) => "remove".to_owned(),
        PlayKind::Decline => "leave the GIPF-pieces standing".to_owned(),
        PlayKind::Challenge => "challenge the announced move".to_owned(),
        PlayKind::Pass => "let it pass".to_owned(),
        PlayKind::Outcome(_) => "the side game ends, for the player who announced".to_owned(),
    }
}

fn verb(kind: Potential) -> &'static str {
    match kind {
        Potential::Tamsk => "enter",
        Potential::Zertz => "jump with",
        Potential::Dvonn | Potential::Punct => "cover with",
        Potential::Yinsh => "run with",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::Rules;

    #[test]
    fn numbers_go_through_all_groups_and_pages() {
        let rules: Rules = "tournament+T4Z4D4".parse().unwrap();
        let text = "G3/5/6/(ST)6/6/5/1g1g 15T3Z4D4,14T4Z4D4 LG w m";
        let choices = Choices::of(&Position::parse(&rules, text).unwrap());
        let all: Vec<String> = (1..=choices.pages()).flat_map(|page| choices.page(page)).collect();
        assert!(all.contains(&"enter a piece loaded with ZÈRTZ:".to_owned()), "{all:#?}");
        assert!(all.iter().all(|line| line.chars().count() <= WIDTH), "{all:#?}");
        let mut numbers = 0;
        for line in &all {
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in words.chunks_exact(2) {
                let Ok(number) = pair[0].parse::<usize>() else { continue };
                numbers += 1;
                assert_eq!(number, numbers);
                assert_eq!(choices.get(number).unwrap().to_string(), pair[1]);
            }
        }
        assert_eq!(numbers, choices.len());
        assert_eq!(choices.get(0), None);
        assert_eq!(choices.get(numbers + 1), None);
    }
}
