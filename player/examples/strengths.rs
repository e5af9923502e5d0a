//! What each strength scores against the one below: `cargo run --release -p gipf-player --example strengths -- PLAYER JSON [GAMES]`.
//!
//! PLAYER is a player's file or `shipped:NAME`. Every opening is played twice with the colours swapped, GAMES games for each of the nine
//! pairs (default 400), the weakest pair first. Full strength has 600 simulations a decision here, about what 50 ms allow. What came of it
//! goes to JSON after each pair; pairs that stand there already, of the same player, handicaps and games, are not played again.
//!
//! With `NODES:TEMPERATURE` two times or more in place of JSON it plays handicaps against each other instead, the first against the second
//! and so on: how the strengths were found.

use anyhow::{Context, bail};
use gipf_player::named::Named;
use gipf_player::{Budget, Choice, Handicap, PlayerError, PlayerFile, Strength};
use gipf_selfplay::{Contestant, GameState, Limit, Match, MatchConfig, MatchResult, Player};
use serde_json::{Value, json};

/// Simulations of a decision at full strength.
const FULL: u32 = 600;
/// Games of a pair unless it is said.
const GAMES: u32 = 400;
/// Games of a pair of handicaps that are tried.
const TRIED: u32 = 200;
/// Another one than that of the matches by which the handicaps were found.
const SEED: u64 = 9;

/// A player under a handicap.
struct Held {
    player: Box<dyn Player>,
    handicap: Option<Handicap>,
}

impl Player for Held {
    fn name(&self) -> String {
        match self.handicap {
            Some(Handicap { nodes, temperature }) => format!("{nodes}:{temperature}"),
            None => "full".to_owned(),
        }
    }

    fn new_game(&mut self) {
        self.player.new_game();
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        match self.handicap {
            Some(handicap) => handicap.choose(&mut *self.player, game, budget),
            None => self.player.choose(game, budget),
        }
    }
}

/// Plays a match of two handicaps.
fn meet(file: &PlayerFile, pair: [Option<Handicap>; 2], games: u32) -> anyhow::Result<MatchResult> {
    let contestant = |handicap| {
        let held = Held { player: Box::new(file.player()), handicap };
        Contestant::player(Box::new(held), Limit::nodes(FULL))
    };
    let config = MatchConfig { games, ..MatchConfig::new(file.rules()?, SEED) };
    // Which thread plays a game makes no difference: its random streams are its own.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let contestants = (0..threads).map(|_| pair.map(contestant)).collect();
    let mut game = Match::new(config, contestants, None)?;
    Ok(game.run(&|| false, &mut |_| (), &mut |_| ())?)
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [player, rest @ ..] = &arguments[..] else {
        bail!("usage: strengths PLAYER JSON [GAMES], or strengths PLAYER NODES:TEMPERATURE…");
    };
    let Named::Trained(file) = Named::parse(player)? else { bail!("{player} is not trained") };
    match rest {
        [first, _, ..] if first.contains(':') => try_out(&file, rest),
        [json] => ladder(&file, json, GAMES),
        [json, games] => ladder(&file, json, games.parse().context("GAMES")?),
        _ => bail!("what to do? JSON or NODES:TEMPERATURE…"),
    }
}

/// Plays each handicap against the next.
fn try_out(file: &PlayerFile, texts: &[String]) -> anyhow::Result<()> {
    let parse = |text: &String| -> anyhow::Result<Option<Handicap>> {
        let (nodes, temperature) = text.split_once(':').context("NODES:TEMPERATURE")?;
        Ok(Some(Handicap { nodes: nodes.parse()?, temperature: temperature.parse()? }))
    };
    let handicaps: Vec<Option<Handicap>> = texts.iter().map(parse).collect::<Result<_, _>>()?;
    for (pair, names) in handicaps.windows(2).zip(texts.windows(2)) {
        let result = meet(file, [pair[0], pair[1]], TRIED)?;
        let share = 100.0 * result.score();
        println!("{} against {}: {share:.1}% of {}", names[0], names[1], result.games);
    }
    Ok(())
}

/// Plays each strength against the one below.
fn ladder(file: &PlayerFile, path: &str, games: u32) -> anyhow::Result<()> {
    let known = match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes)?,
        Err(_) => Value::Null,
    };
    let header = file.header();
    let same = known["seed"] == SEED && known["player"]["sha256"] == json!(header.sha256);
    let known = known["pairs"].as_array().cloned().filter(|_| same).unwrap_or_default();
    let mut pairs = Vec::new();
    for (at, pair) in Strength::ALL.windows(2).enumerate() {
        let [below, above] = [pair[0], pair[1]];
        let told = |strength: Strength| match strength.handicap() {
            Some(Handicap { nodes, temperature }) => json!({
                "strength": strength.number(), "nodes": nodes, "temperature": temperature,
            }),
            None => json!({ "strength": strength.number(), "nodes": FULL, "temperature": 0 }),
        };
        let played = known.iter().find(|pair| {
            pair["above"] == told(above) && pair["below"] == told(below) && pair["games"] == games
        });
        let found = match played {
            Some(played) => played.clone(),
            None => {
                let result = meet(file, [above.handicap(), below.handicap()], games)?;
                let points = result.score() * result.games as f64;
                let (above, below) = (told(above), told(below));
                json!({
                    "above": above, "below": below, "games": result.games, "points": points,
                    "score": result.score(), "elo": result.elo(),
                })
            }
        };
        println!("{} against {}: {}", above.number(), below.number(), found["points"]);
        pairs.push(found);
        // What is known of the pairs to come stays in the file meanwhile.
        let all: Vec<&Value> = pairs.iter().chain(known.iter().skip(at + 1)).collect();
        let found = json!({
            "command": "cargo run --release -p gipf-player --example strengths -- shipped:standard docs/results/strengths.json 200",
            "player": {
                "name": file.name(), "architecture": header.architecture.to_string(), "step": header.step,
                "sha256": header.sha256,
            },
            "rules": file.rules()?.to_string(),
            "seed": SEED,
            "pairs": all,
        });
        std::fs::write(path, format!("{found:#}\n"))?;
    }
    Ok(())
}
