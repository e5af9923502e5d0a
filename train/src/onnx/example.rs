//! A position worked out: its inputs, its outputs, and the logit of each of its plays.

use gipf_core::{Play, Position, Rules};
use gipf_model::{Checkpoint, EvalError, Evaluation, Evaluator, Features, NativeEvaluator};
use serde_json::{Value, json};

use super::network::cell;

/// Plays that lead to the position, each the first of the sorted plays of its position with this number, modulo their count.
const PLAYS: [usize; 9] = [0, 7, 19, 4, 31, 12, 3, 25, 16];

/// A position some plays into a game by the network's first rules.
///
/// # Errors
/// The network cannot be evaluated.
pub(super) fn worked_example(checkpoint: &Checkpoint) -> Result<Value, EvalError> {
    let failed = |message: String| EvalError::Backend { name: "example".to_owned(), message };
    let text = checkpoint.header.rules.first().map_or("standard", String::as_str);
    let rules: Rules =
        text.parse().map_err(|error: gipf_core::RulesError| failed(error.to_string()))?;
    let (position, plays) = position(&rules);
    let mut actions = Vec::new();
    position.actions(&mut actions);
    let mut features = Features::new();
    features.fill(&position, &actions);
    let mut out = [Evaluation::default()];
    NativeEvaluator::new(checkpoint).evaluate(std::slice::from_ref(&features), &mut out)?;
    let [Evaluation { logits, value, plays_left }] = out;
    let planes: Vec<(usize, Vec<usize>)> = features
        .planes
        .iter()
        .enumerate()
        .filter(|(_, set)| !set.is_empty())
        .map(|(plane, set)| (plane, set.iter().map(cell).collect()))
        .collect();
    let of_action = |(at, play): (usize, &Play)| {
        let groups: Vec<&[(u16, f32)]> = features.policy.groups_of(at).collect();
        json!({ "play": play.to_string(), "groups": groups, "logit": logits[at] })
    };
    Ok(json!({
        "rules": rules.to_string(),
        "plays": plays.iter().map(Play::to_string).collect::<Vec<_>>(),
        "position": position.to_string(),
        "planes": planes,
        "globals": features.globals.to_vec(),
        "value": value,
        "plays_left": plays_left,
        "actions": actions.iter().enumerate().map(of_action).collect::<Vec<_>>(),
    }))
}

/// The position of the example and the plays that lead there; fewer where chance would decide.
fn position(rules: &Rules) -> (Position, Vec<Play>) {
    let (mut position, mut plays, mut actions) = (rules.start(), Vec::new(), Vec::new());
    for number in PLAYS {
        position.actions(&mut actions);
        actions.sort_unstable_by_key(Play::to_string);
        let mut next = position;
        let Some(&play) = actions.get(number % actions.len().max(1)) else { break };
        next.play(play);
        if next.decider().is_none() {
            break;
        }
        position = next;
        plays.push(play);
    }
    (position, plays)
}
