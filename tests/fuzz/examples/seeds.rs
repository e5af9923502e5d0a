//! Writes the seeds anew from `tests/data/vectors`: `cargo run --example seeds`.
//!
//! Of many alike one is kept: positions differ in their phase or detail keys, plays in their form.
//! Seeds whose names do not begin with a digit came from elsewhere and stay as they are.

use flate2::read::GzDecoder;
use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Color, EntryKind, Phase, Play, PlayKind, Position, Rules};
use gipf_fuzz::RULES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Plays of a game that a record or a list of moves keeps.
const SHORT: usize = 24;

fn main() {
    write("rules_string", rules_strings());
    write("position_text", positions());
    write("play_text", plays());
    write("official_notation", official_games());
    write("record", records());
}

fn write(target: &str, seeds: impl IntoIterator<Item = String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        if file.file_name().as_encoded_bytes()[0].is_ascii_digit() {
            fs::remove_file(file.path()).unwrap();
        }
    }
    let mut seeds: Vec<String> = seeds.into_iter().collect();
    seeds.sort();
    for (at, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("{at:03}")), seed).unwrap();
    }
}

// What the vectors hold

fn vectors(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/vectors").join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&fs::read(vectors(name)).unwrap()).unwrap()
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned())
}

/// The random games: rules and plays.
fn games() -> Vec<(String, Vec<Play>)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(vectors("games")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let lines = files
        .iter()
        .flat_map(|path| BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines());
    lines
        .map(|line| {
            let game: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let rules = game["rules"].as_str().unwrap().to_owned();
            (rules, texts(&game["plays"]).map(|text| text.parse().unwrap()).collect())
        })
        .collect()
}

/// The letter by which the targets choose these rules.
fn letter(rules: &str) -> Option<char> {
    let at = RULES.iter().position(|choice| *choice == rules)?;
    Some((b'A' + at as u8) as char)
}

// The seeds of each target

fn rules_strings() -> Vec<String> {
    let strings = json("rules_strings.json");
    let good = strings["good"].as_array().unwrap().iter().map(|good| &good["rules"]);
    let good = good.map(|rules| rules.as_str().unwrap().to_owned());
    good.chain(texts(&strings["bad"])).chain(RULES.map(str::to_owned)).collect()
}

fn positions() -> Vec<String> {
    let mut seeds = BTreeSet::new();
    for case in json("positions.json").as_array().unwrap() {
        let text = case["position"].as_str().unwrap();
        // By other rules than its own it may be no position, which is worth a seed too.
        let letter = letter(case["rules"].as_str().unwrap()).unwrap_or('O');
        seeds.insert(format!("{letter}{text}"));
    }
    let mut seen = BTreeSet::new();
    let strings: Vec<String> = games().iter().map(|game| game.0.clone()).collect();
    for (rules, plays) in games() {
        // Options that no game was made with are tried on the games without them.
        for choice in RULES {
            let own = strings.iter().all(|rules| rules != choice)
                && choice.split([';', '+']).next() == rules.split([';', '+', ':']).next();
            if choice != rules && !own {
                continue;
            }
            let mut position = choice.parse::<Rules>().unwrap().start();
            for play in &plays {
                if position.phase() == Phase::Challenge {
                    position.play(Play::PASS);
                }
                if position.try_play(*play).is_err() {
                    break;
                }
                let text = position.to_string();
                let mut parts = text.split(' ').skip(4);
                let phase = parts.next().unwrap().to_owned();
                let keys = parts.next().unwrap_or_default().split(',');
                let keys: String = keys.filter_map(|pair| pair.split('=').next()).collect();
                if phase != "W" && phase != "B" && seen.insert((choice, phase, keys)) {
                    seeds.insert(format!("{}{text}", letter(choice).unwrap()));
                }
            }
        }
    }
    seeds.into_iter().collect()
}

fn plays() -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = games().into_iter().flat_map(|(_, plays)| plays).map(|play| play.to_string());
    let all = all.chain(["?", ".", "=w", "=t", "=l", "+-", "x-"].map(str::to_owned));
    all.filter(|text| {
        let form = text.chars().map(|c| match c {
            'a'..='i' => 'a',
            '1'..='9' => '1',
            _ => c,
        });
        seen.insert(form.collect::<String>())
    })
    .collect()
}

fn official_games() -> Vec<String> {
    let published = fs::read_to_string(vectors("published/tournament-1.txt")).unwrap();
    let mut seeds = vec![format!("C{published}")];
    for (choice, plays) in first_games() {
        let rules: Rules = choice.parse().unwrap();
        seeds.push(format!("{}{}", letter(&choice).unwrap(), official(&rules, &plays)));
    }
    seeds
}

/// The first game of each rules string that a letter stands for, shortened.
fn first_games() -> Vec<(String, Vec<Play>)> {
    let mut games = games();
    games.dedup_by(|a, b| a.0 == b.0);
    games.retain(|(rules, _)| letter(rules).is_some());
    for (rules, plays) in &mut games {
        // No row may be left to deal with at the end of a list of moves.
        let mut position = rules.parse::<Rules>().unwrap().start();
        let mut whole = 0;
        for (at, play) in plays.iter().take(SHORT).enumerate() {
            position.play(*play);
            if position.phase() == Phase::Regular {
                whole = at + 1;
            }
        }
        plays.truncate(whole);
    }
    games
}

/// A game in the archive's form of the official notation.
fn official(rules: &Rules, plays: &[Play]) -> String {
    let mut position = rules.start();
    let (mut text, mut number, mut last) = (String::new(), 0, None);
    for play in plays {
        let color = match position.phase() {
            Phase::Removal(color) => color,
            _ => position.mover(),
        };
        if last == Some(color) {
            text.push(';');
        } else if color == Color::White {
            number += 1;
            write!(text, "{}{number}. ", if number > 1 { "\n" } else { "" }).unwrap();
        } else {
            text += " / ";
        }
        text += &part(&position, color, *play);
        last = Some(color);
        position.try_play(*play).unwrap();
    }
    text
}

fn part(position: &Position, color: Color, play: Play) -> String {
    let letter = color.letter().to_ascii_uppercase();
    match play.kind() {
        PlayKind::Enter { kind, entry } => match kind {
            EntryKind::Basic => format!("{letter}{entry}"),
            EntryKind::Gipf => format!("G{letter}{entry}"),
            EntryKind::Loaded(potential) => format!("{}{letter}{entry}", potential.letter()),
        },
        PlayKind::Remove(taken) => {
            let items: Vec<String> = taken
                .iter()
                .map(|spot| {
                    let gipf = if position.gipfs().contains(spot) { "G" } else { "" };
                    let theirs = if position.owner(spot) == Some(color) { "" } else { "*" };
                    format!("{gipf}{spot}{theirs}")
                })
                .collect();
            format!("x{}", items.join(","))
        }
        _ => play.to_string(),
    }
}

fn records() -> Vec<String> {
    first_games()
        .into_iter()
        .enumerate()
        .filter(|(at, _)| at % 4 == 0)
        .map(|(at, (rules, plays))| {
            // The second half of a game starts from a position.
            let (before, plays) = plays.split_at(if at % 8 == 0 { 0 } else { plays.len() / 2 });
            let mut position = rules.parse::<Rules>().unwrap().start();
            before.iter().for_each(|play| position.play(*play));
            let start = (!before.is_empty()).then(|| position.to_string());
            plays.iter().for_each(|play| position.play(*play));
            let record = GameRecord {
                format: RECORD_FORMAT.to_owned(),
                id: GameId { run: "seed".to_owned(), worker: "0f".repeat(16), seq: at as u64 },
                rules,
                start,
                max_plays: SHORT as u32,
                seed: 1,
                result: GameResult::of(&position),
                forfeit: None,
                plays: plays
                    .iter()
                    .map(|play| RecordedPlay { p: play.to_string(), s: None })
                    .collect(),
            };
            record.to_json()
        })
        .collect()
}
