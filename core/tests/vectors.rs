//! The test vectors of the rules (tests/data/vectors, whose README says the forms).

#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

use flate2::read::GzDecoder;
use gipf_core::{Color, Play, Position, Rules, notation, perft};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

fn vectors(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/vectors").join(name)
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&fs::read(vectors(name)).unwrap()).unwrap()
}

fn legal_texts(position: &Position) -> Vec<String> {
    let mut plays = Vec::new();
    position.legal_plays(&mut plays);
    let mut texts: Vec<String> = plays.iter().map(Play::to_string).collect();
    texts.sort();
    texts
}

/// Plays a text play after checking that it is listed, and that the whole state survives its text.
fn play(position: &mut Position, text: &str) {
    position.try_play(text.parse().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    assert_reads_back(position);
}

fn assert_reads_back(position: &Position) {
    let text = position.to_string();
    match Position::parse(position.rules(), &text) {
        Ok(again) => assert_eq!(again, *position, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// FNV-1a 64 over the lists of legal plays of a game.
struct Fnv(u64);

impl Fnv {
    fn write(&mut self, text: &str) {
        for byte in text.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[derive(Deserialize)]
struct Game {
    rules: String,
    plays: Vec<String>,
    counts: Vec<usize>,
    hash: String,
    r#final: String,
    result: String,
}

#[test]
fn games() {
    let mut files = 0;
    for file in fs::read_dir(vectors("games")).unwrap() {
        let path = file.unwrap().path();
        files += 1;
        for (at, line) in
            BufReader::new(GzDecoder::new(File::open(&path).unwrap())).lines().enumerate()
        {
            let game: Game = serde_json::from_str(&line.unwrap()).unwrap();
            let place = format!("{} game {}", path.display(), at + 1);
            let rules: Rules = game.rules.parse().unwrap();
            let mut position = rules.start();
            let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
            for (at, text) in game.plays.iter().enumerate() {
                let legal = legal_texts(&position);
                assert!(legal.windows(2).all(|w| w[0] < w[1]), "{place}: duplicates");
                assert_eq!(legal.len(), game.counts[at], "{place} play {}: {position}", at + 1);
                if at > 0 {
                    hash.write("");
                }
                legal.iter().for_each(|play| hash.write(play));
                assert!(legal.contains(text), "{place} play {}: {text} {position}", at + 1);
                play(&mut position, text);
            }
            assert_eq!(position.to_string(), game.r#final, "{place}");
            let result = position.winner().map_or("U", |c| if c.index() == 0 { "W" } else { "B" });
            assert_eq!(result, game.result, "{place}");
            assert_eq!(format!("{:016x}", hash.0), game.hash, "{place}");
        }
    }
    assert!(files >= 18);
}

#[derive(Deserialize)]
struct Directed {
    name: String,
    rules: String,
    position: String,
    #[serde(default)]
    plays: Vec<String>,
    legal: Vec<String>,
    #[serde(default)]
    then: Vec<Then>,
}

#[derive(Deserialize)]
struct Then {
    play: String,
    position: String,
}

#[test]
fn directed_positions() {
    let cases: Vec<Directed> = read("positions.json");
    assert!(cases.len() >= 72);
    for case in cases {
        let rules: Rules = case.rules.parse().unwrap();
        let start = Position::parse(&rules, &case.position)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let mut position = start;
        case.plays.iter().for_each(|text| play(&mut position, text));
        assert_eq!(legal_texts(&position), case.legal, "{}", case.name);
        for then in case.then {
            let mut position = start;
            then.play.split(';').for_each(|text| play(&mut position, text));
            assert_eq!(position.to_string(), then.position, "{}: {}", case.name, then.play);
        }
    }
}

#[derive(Deserialize)]
struct Perft {
    rules: String,
    #[serde(default)]
    plays: Vec<String>,
    position: Option<String>,
    depth: u32,
    nodes: u64,
}

#[test]
fn perft_from_the_start_and_from_mid_game() {
    let mut cases: Vec<Perft> = read("perft.json");
    cases.extend(read::<Vec<Perft>>("perft_positions.json"));
    for case in cases {
        let rules: Rules = case.rules.parse().unwrap();
        let mut position = rules.start();
        case.plays.iter().for_each(|text| play(&mut position, text));
        if let Some(text) = case.position {
            assert_eq!(position.to_string(), text);
        }
        let nodes = perft(&position, case.depth);
        assert_eq!(nodes, case.nodes, "{} depth {} {position}", case.rules, case.depth);
    }
}

#[test]
fn perft_5_of_standard_and_basic() {
    for rules in ["standard", "basic"] {
        let rules: Rules = rules.parse().unwrap();
        assert_eq!(perft(&rules.start(), 5), 126_307_872, "{rules}");
    }
}

#[derive(Deserialize)]
struct RulesStrings {
    good: Vec<Good>,
    bad: Vec<String>,
}

#[derive(Deserialize)]
struct Good {
    rules: String,
    start: String,
}

#[test]
fn rules_strings() {
    let strings: RulesStrings = read("rules_strings.json");
    for good in strings.good {
        let rules: Rules = good.rules.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rules.start().to_string(), good.start, "{}", good.rules);
        assert_reads_back(&rules.start());
        assert_eq!(rules.to_string().parse(), Ok(rules));
    }
    for bad in strings.bad {
        assert!(bad.parse::<Rules>().is_err(), "{bad:?} is accepted");
    }
}

/// The note in the file says what the board and the hands are after the last move.
#[test]
fn published_game() {
    let text = fs::read_to_string(vectors("published/tournament-1.txt")).unwrap();
    let rules: Rules = notation::guess_rules(&text).parse().unwrap();
    let game = notation::read_official(&rules, &text).unwrap_or_else(|error| panic!("{error}"));
    let last = game.last;
    assert_eq!(Color::ALL.map(|color| last.hand_basic(color)), [5, 0]);
    assert_eq!(Color::ALL.map(|color| last.gipf_count(color)), [2, 2]);
    let mut again = rules.start();
    game.plays.iter().for_each(|play| again.try_play(*play).unwrap());
    assert_eq!(again, last);
}
