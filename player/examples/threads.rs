//! What more threads bring a search: `cargo run --release -p gipf-player --example threads -- PLAYER JSON [THREADS [GAMES]]`.
//!
//! First simulations a second with one thread and with THREADS (default 2), 50 ms a decision in the same game, in turns. Then, where GAMES
//! is not 0, a match of THREADS against one at 50 ms a decision, until SPRT(0, 20) decides or GAMES are played; it says something only on a
//! machine with THREADS whole cores for it.

use std::time::Duration;

use anyhow::{Context, bail};
use gipf_player::named::Named;
use gipf_player::{Budget, PlayerFile};
use gipf_selfplay::{
    Clock, Contestant, GameState, Limit, Match, MatchConfig, Player, RandomKey, Sprt, Timer,
};
use serde_json::json;

/// Decisions that are timed for each number of threads.
const DECISIONS: u32 = 60;
const MOVETIME: Duration = Duration::from_millis(50);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, path, rest @ ..] = &arguments[..] else {
        bail!("usage: threads PLAYER JSON [THREADS [GAMES]]");
    };
    let number = |at: usize, default: u32| {
        rest.get(at).map_or(Ok(default), |text| text.parse().context("a number"))
    };
    let (threads, games) = (number(0, 2)? as usize, number(1, 0)?);
    let Named::Trained(file) = Named::parse(name)? else { bail!("{name} is not trained") };
    let [one, many] = speeds(&file, threads)?;
    println!(
        "{one:.0} simulations a second with one thread, {many:.0} with {threads}: {:.2} times",
        many / one
    );
    let result = if games > 0 { Some(meet(&file, threads, games)?) } else { None };
    let found = json!({
        "command": format!("cargo run --release -p gipf-player --example threads -- {name} {path} {threads} {games}"),
        "player": { "name": file.name(), "sha256": file.header().sha256 },
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "threads": threads,
        "milliseconds": MOVETIME.as_millis() as u64,
        "simulations_per_second": { "one": one, "threads": many },
        "ratio": many / one,
        "match": result,
    });
    std::fs::write(path, format!("{found:#}\n"))?;
    Ok(())
}

/// Simulations a second with one thread and with several, each decision of one beside one of the other.
fn speeds(file: &PlayerFile, threads: usize) -> anyhow::Result<[f64; 2]> {
    let mut players = [file.threaded(1)?, file.threaded(threads)?];
    let mut totals = [(0, 0.0); 2];
    let mut position = file.rules()?.start();
    let mut plays = Vec::new();
    for _ in 0..DECISIONS {
        let key = RandomKey { seed: 1, game: 0 };
        let state = GameState { position: &position, plays: &plays, max_plays: 500, key };
        let mut best = None;
        for (player, (nodes, seconds)) in players.iter_mut().zip(&mut totals) {
            player.new_game();
            let timer = Timer::new(Some(MOVETIME));
            let choice = player.choose(&state, &Budget::time(&timer))?;
            *seconds += timer.elapsed().as_secs_f64();
            *nodes += choice.thought.map_or(0, |thought| thought.nodes);
            best = Some(choice.play);
        }
        let play = best.context("a play")?;
        position.play(play);
        plays.push(play);
        if position.decider().is_none() {
            break;
        }
    }
    Ok(totals.map(|(nodes, seconds)| nodes as f64 / seconds))
}

/// Several threads (A) against one (B) at equal time.
fn meet(file: &PlayerFile, threads: usize, games: u32) -> anyhow::Result<serde_json::Value> {
    let contestant = |threads: usize| -> anyhow::Result<Contestant> {
        let player: Box<dyn Player> = Box::new(file.threaded(threads)?);
        Ok(Contestant::player(player, Limit::time(MOVETIME)))
    };
    let sprt = Sprt { elo0: 0.0, elo1: 20.0, alpha: 0.05, beta: 0.05 };
    let config = MatchConfig { games, sprt: Some(sprt), ..MatchConfig::new(file.rules()?, 3) };
    let mut game = Match::new(config, vec![[contestant(threads)?, contestant(1)?]], None)?;
    let result = game.run(&|| false, &mut |_| (), &mut |_| ())?;
    println!("{} games: {:.1}%, Elo {}", result.games, 100.0 * result.score(), result.elo());
    Ok(json!({ "elo": result.elo(), "result": result }))
}
