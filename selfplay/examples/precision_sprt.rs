//! Whether a network plays as well in int8 as in f32: `cargo run --release -p gipf-selfplay --example precision_sprt --
//! CHECKPOINT RECORDS JSON [NODES]`.
//!
//! Int8 (A) plays f32 (B) of the same checkpoint with NODES simulations a decision (default 16), every opening twice with the
//! colours swapped, until SPRT(-20, 0) with error rates of 0.05 decides, or for 6,000 games. Without a calibration in the
//! checkpoint the network plays itself first, and those positions calibrate it. The games go to RECORDS, one JSON record a line;
//! called again, it goes on after the games that stand there. What it came to goes to JSON.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use gipf_core::record::GameRecord;
use gipf_core::{Play, Rules};
use gipf_model::{
    Calibration, Checkpoint, Evaluator, Features, Int8Evaluator, NativeEvaluator, calibrate,
};
use gipf_selfplay::{
    Contestant, Match, MatchConfig, MatchGame, MatchResult, Network, SearchConfig, SideCost, Sprt,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The most games of the test.
const GAMES: u32 = 6_000;
/// Games whose positions calibrate, and how many of the positions are taken.
const CALIBRATION_GAMES: u32 = 32;
const CALIBRATION_POSITIONS: usize = 512;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [checkpoint_path, records_path, json_path, rest @ ..] = &arguments[..] else {
        return Err("usage: precision_sprt CHECKPOINT RECORDS JSON [NODES]".into());
    };
    let nodes: u32 = rest.first().map_or(Ok(16), |nodes| nodes.parse())?;
    let checkpoint = Checkpoint::load(Path::new(checkpoint_path))?;
    let rules: Rules =
        checkpoint.header.rules.first().map_or("standard", String::as_str).parse()?;
    let float = || contestant("f32", Box::new(NativeEvaluator::new(&checkpoint)), nodes);
    let calibration = match &checkpoint.calibration {
        Some(calibration) => calibration.clone(),
        None => calibrated(&checkpoint, rules, || [float(), float()])?,
    };
    let int8 = Int8Evaluator::new(&checkpoint, &calibration);
    let kernels = (NativeEvaluator::new(&checkpoint).name(), int8.name());

    let sprt = Sprt { elo0: -20.0, elo1: 0.0, alpha: 0.05, beta: 0.05 };
    let config = MatchConfig { games: GAMES, sprt: Some(sprt), ..MatchConfig::new(rules, 1) };
    let contestants = vec![[contestant("int8", Box::new(int8), nodes), float()]];
    let judge = match float() {
        Contestant::Network { network, .. } => Some(network),
        Contestant::Player { .. } => None,
    };
    let mut game = Match::new(config, contestants, judge)?;
    let taken_up = take_up(&mut game, Path::new(records_path))?;
    println!("{} against {}, {taken_up} games taken up", kernels.1, kernels.0);
    let mut records = OpenOptions::new().create(true).append(true).open(records_path)?;
    let mut failed = None;
    let result = game.run(
        &|| false,
        &mut |so_far: &MatchResult| {
            if so_far.games.is_multiple_of(50)
                && let Some(sprt) = &so_far.sprt
            {
                let (elo, llr) = (so_far.elo(), sprt.llr);
                println!("{} games, Elo {elo}, LLR {llr:.2}", so_far.games);
            }
        },
        &mut |game: MatchGame| {
            if failed.is_none() {
                failed = writeln!(records, "{}", game.record.to_json()).err();
            }
        },
    )?;
    if let Some(error) = failed {
        return Err(format!("{records_path}: {error}").into());
    }
    let found = serde_json::json!({
        "command": "cargo run --release -p gipf-selfplay --example precision_sprt -- CHECKPOINT RECORDS JSON",
        "checkpoint": {
            "architecture": checkpoint.header.architecture.to_string(),
            "step": checkpoint.header.step,
            "sha256": checkpoint.header.sha256,
            "rules": rules.to_string(),
        },
        "evaluators": { "a": kernels.1, "b": kernels.0 },
        "simulations": nodes,
        "elo": result.elo(),
        "result": result,
    });
    std::fs::write(json_path, format!("{found:#}\n"))?;
    println!("{} games, Elo {}, {:?}", result.games, result.elo(), result.sprt.map(|s| s.decision));
    Ok(())
}

fn contestant(name: &str, evaluator: Box<dyn Evaluator>, nodes: u32) -> Contestant {
    let network = Network {
        name: name.to_owned(),
        evaluator,
        search: SearchConfig::default(),
        checkpoint: 0,
    };
    Contestant::Network { network, simulations: nodes }
}

/// Calibrates on positions of games that the network plays against itself, evenly taken.
fn calibrated(
    checkpoint: &Checkpoint,
    rules: Rules,
    pair: impl Fn() -> [Contestant; 2],
) -> Outcome<Calibration> {
    let config = MatchConfig { games: CALIBRATION_GAMES, ..MatchConfig::new(rules, 2) };
    let mut games = Vec::new();
    let mut keep = |game: MatchGame| games.push(game.record);
    Match::new(config, vec![pair()], None)?.run(&|| false, &mut |_| (), &mut keep)?;
    games.sort_by_key(|game| game.id.seq);
    let (mut all, mut actions): (Vec<Features>, Vec<Play>) = (Vec::new(), Vec::new());
    for game in &games {
        let replayed = game.replay()?;
        for position in replayed.positions.iter().filter(|position| position.decider().is_some()) {
            position.actions(&mut actions);
            let mut features = Features::new();
            features.fill(position, &actions);
            all.push(features);
        }
    }
    let every = (all.len() / CALIBRATION_POSITIONS).max(1);
    let chosen: Vec<Features> = all.into_iter().step_by(every).collect();
    Ok(calibrate(checkpoint, &chosen))
}

/// Counts the games that stand in the file; the last line of a run that was killed may be torn and is left out.
fn take_up(game: &mut Match, path: &Path) -> Outcome<u64> {
    if !path.exists() {
        return Ok(0);
    }
    let mut whole = String::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let line = line?;
        let Ok(record) = GameRecord::from_json(&line) else { break };
        game.take_up(&MatchGame { record, costs: [SideCost::default(); 2] })?;
        whole += &line;
        whole.push('\n');
    }
    std::fs::write(path, whole)?;
    Ok(game.result().games)
}
