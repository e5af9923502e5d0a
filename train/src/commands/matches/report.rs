//! What a match says while it goes on and at its end.

use gipf_selfplay::{Decision, MatchResult, SideResult, SprtState};
use serde_json::{Value, json};

use super::Args;
use super::records::MatchIdentity;
use crate::commands::Output;
use crate::learner::elo_text;
use crate::progress::human_time;

/// The live line: games, score, Elo, the test, and the time that is left.
pub(super) fn progress_text(so_far: &MatchResult, games: u32, left: f64) -> String {
    let mut parts = vec![format!("{} of {games} games", so_far.games), score_text(so_far)];
    if so_far.pairs.pairs() > 0 {
        parts.push(format!("Elo {}", elo_text(so_far)));
    }
    let left = human_time(left);
    match &so_far.sprt {
        Some(sprt) => {
            parts.push(ratio_text(sprt));
            parts.push(format!("at most {left} left"));
        }
        None => parts.push(format!("{left} left")),
    }
    parts.join(", ")
}

/// Writes what came of the match.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(
    args: &Args,
    identity: &MatchIdentity,
    threads: u32,
    result: &MatchResult,
    out: Output,
) -> std::io::Result<()> {
    if args.json {
        return writeln!(out, "{}", object(args, identity, threads, result));
    }
    let limit = match args.movetime {
        Some(time) => format!("{time} ms a decision"),
        None => format!("{} nodes a decision", args.limit().nodes.unwrap_or_default()),
    };
    writeln!(
        out,
        "{} against {}, {} of {} games, rules {}, {limit}",
        args.a,
        args.b,
        result.games,
        args.games(),
        identity.rules
    )?;
    writeln!(out, "score    {}", score_text(result))?;
    if result.games > 0 {
        let [a, b] = [result.a_wins, result.b_wins];
        writeln!(out, "Elo      {}", elo_text(result))?;
        let [zero, half, one, more, two] = result.pairs.counts;
        writeln!(
            out,
            "pairs    {zero} with 0 points, {half} with 1/2, {one} with 1, {more} with 3/2, {two} with 2"
        )?;
        writeln!(
            out,
            "White    {:.1}% of the points; won by A {} as White and {} as Black, by B {} and {}",
            100.0 * result.white_share(),
            a[0],
            a[1],
            b[0],
            b[1]
        )?;
        writeln!(out, "length   {:.1} plays a game", result.mean_length())?;
        for (name, side) in ["A", "B"].into_iter().zip(&result.sides) {
            writeln!(out, "{name:<8} {}", side_text(side, args.movetime.is_some()))?;
        }
    }
    if let Some(sprt) = &result.sprt {
        writeln!(out, "test     {}", test_text(sprt))?;
    }
    if result.stopped {
        let more = if args.records.is_some() { "; the same command goes on with it" } else { "" };
        writeln!(out, "stopped before the end{more}")?;
    }
    Ok(())
}

/// Everything as one JSON object.
fn object(args: &Args, identity: &MatchIdentity, threads: u32, result: &MatchResult) -> Value {
    let elo = result.elo();
    let limit = match args.movetime {
        Some(time) => json!({ "movetime": time }),
        None => json!({ "nodes": args.limit().nodes }),
    };
    let side = |side: &SideResult| {
        json!({
            "seconds": side.cost.seconds,
            "decisions": side.cost.decisions,
            "ms_a_decision": a_decision(side, side.cost.seconds * 1e3),
            "nodes_a_decision": a_decision(side, side.cost.nodes as f64),
            "worst_overshoot_ms": args.movetime.map(|_| side.cost.worst_overshoot * 1e3),
            "forfeits": side.forfeits,
            "last_forfeit": side.last_forfeit,
        })
    };
    json!({
        "match": identity, "a": args.a, "b": args.b, "rules": identity.rules, "limit": limit, "seed": args.seed,
        "max_plays": args.max_plays, "threads": threads,
        "games": result.games, "a_wins": result.a_total(), "b_wins": result.b_total(), "unfinished": result.unfinished,
        "a_wins_by_color": result.a_wins, "b_wins_by_color": result.b_wins, "pairs": result.pairs.counts,
        "score": result.score(), "white_share": result.white_share(),
        "elo": elo.difference, "elo_low": elo.low, "elo_high": elo.high,
        "mean_length": result.mean_length(), "sides": result.sides.each_ref().map(side), "sprt": result.sprt,
        "evaluations": result.evaluations, "batches": result.batches, "stopped": result.stopped,
    })
}

/// Wins, losses, unfinished games and the score of the first player.
pub(super) fn score_text(result: &MatchResult) -> String {
    if result.games == 0 {
        return "no game finished".to_owned();
    }
    format!(
        "{} won, {} lost, {} unfinished ({:.1}%)",
        result.a_total(),
        result.b_total(),
        result.unfinished,
        100.0 * result.score()
    )
}

/// What a side used, and the games that it forfeited.
fn side_text(side: &SideResult, timed: bool) -> String {
    let cost = &side.cost;
    let mut text = format!(
        "thought {}, {:.2} ms and {:.0} nodes a decision",
        human_time(cost.seconds),
        a_decision(side, cost.seconds * 1e3),
        a_decision(side, cost.nodes as f64)
    );
    if timed {
        text += &format!(", at most {:.2} ms over its time", cost.worst_overshoot * 1e3);
    }
    if let Some(reason) = &side.last_forfeit {
        text += &format!("; {} forfeited, the last: {reason}", side.forfeits);
    }
    text
}

fn a_decision(side: &SideResult, of_all: f64) -> f64 {
    of_all / side.cost.decisions.max(1) as f64
}

/// The log-likelihood ratio and where it would decide.
fn ratio_text(sprt: &SprtState) -> String {
    format!("LLR {:.2} ({:.2} to {:.2})", sprt.llr, sprt.lower, sprt.upper)
}

/// What the test says.
fn test_text(sprt: &SprtState) -> String {
    let (elo0, elo1, pairs) = (sprt.test.elo0, sprt.test.elo1, sprt.pairs.pairs());
    let verdict = match sprt.decision {
        Some(Decision::Accept0) => format!("accepted: A leads by {elo0} Elo rather than {elo1}"),
        Some(Decision::Accept1) => format!("accepted: A leads by {elo1} Elo rather than {elo0}"),
        None => format!("undecided between {elo0} and {elo1} Elo"),
    };
    format!("{verdict}; {} after {pairs} pairs", ratio_text(sprt))
}
