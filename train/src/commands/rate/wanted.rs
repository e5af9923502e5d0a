//! Who is rated: a run's checkpoints, spread over it, and other players.

use std::time::Duration;

use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_selfplay::{Contestant, Limit, Method};

use super::super::Usage;
use super::super::players::{Patience, PlayerSpec, Terms};
use crate::evaluators::network;
use crate::progress::Progress;
use crate::ratings::{Book, Entrant, RatedLimit, Rival};
use crate::run::{CheckpointFile, RunView};

/// Checkpoints that are rated where none are named.
const CHECKPOINTS: usize = 12;

/// The players without a network that are rated where none are named.
const BASELINES: [&str; 5] = ["random", "greedy", "alphabeta:1", "alphabeta:3", "mcts:500"];

/// Who shall be rated.
#[derive(Default)]
pub(super) struct Wanted {
    checkpoints: Vec<CheckpointFile>,
    others: Vec<(String, PlayerSpec)>,
    /// What the checkpoints may be filled up from.
    spread: Vec<CheckpointFile>,
}

impl Wanted {
    /// The run's step 0, newest and best, others spread over it, and the baselines.
    pub(super) fn default_of(view: &RunView, files: &[CheckpointFile]) -> anyhow::Result<Self> {
        let best = view.best_step()?;
        let ends = [files.first(), files.last(), files.iter().find(|file| file.step == best)];
        let mut checkpoints: Vec<CheckpointFile> = Vec::new();
        for file in ends.into_iter().flatten() {
            if !checkpoints.contains(file) {
                checkpoints.push(file.clone());
            }
        }
        let others = BASELINES
            .iter()
            .map(|name| Ok(((*name).to_owned(), PlayerSpec::parse(name)?)))
            .collect::<anyhow::Result<_>>()?;
        Ok(Wanted { checkpoints, others, spread: files.to_vec() })
    }

    /// Those named on the command line.
    pub(super) fn named(
        names: &[String],
        view: &RunView,
        files: &[CheckpointFile],
    ) -> anyhow::Result<Self> {
        let mut wanted = Wanted::default();
        for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            let step = match name {
                "latest" => Some(view.state.step),
                "best" => Some(view.best_step()?),
                step => step.parse().ok(),
            };
            let Some(step) = step else {
                wanted.others.push((name.to_owned(), PlayerSpec::parse(name)?));
                continue;
            };
            let Some(file) = files.iter().find(|file| file.step == step) else {
                return Err(Usage::error(format!(
                    "--players {name}: the run has no checkpoint of step {step}"
                )));
            };
            if !wanted.checkpoints.contains(file) {
                wanted.checkpoints.push(file.clone());
            }
        }
        if wanted.checkpoints.len() + wanted.others.len() < 2 {
            return Err(Usage::error("--players: ratings need two players or more".to_owned()));
        }
        Ok(wanted)
    }

    /// The name among those rated of the one whose Elo shall be 0. A step that is rated only where the spread happens to
    /// take it in is rated then.
    pub(super) fn anchor(&mut self, name: &str) -> anyhow::Result<String> {
        if let Ok(step) = name.parse::<u64>() {
            let is_chosen = self.checkpoints.iter().any(|file| file.step == step);
            let other = self.spread.iter().find(|file| file.step == step);
            if is_chosen || other.is_some() {
                self.checkpoints.extend(other.filter(|_| !is_chosen).cloned());
                return Ok(format!("step {step}"));
            }
        } else if self.others.iter().any(|(other, _)| other == name) {
            return Ok(name.to_owned());
        }
        Err(Usage::error(format!("--anchor {name}: neither a step nor a player that is rated")))
    }

    /// Loads them. A checkpoint that the run has removed meanwhile is left out with a note.
    pub(super) fn rivals(
        mut self,
        book: &Book,
        rules: Rules,
        limit: RatedLimit,
        device: Device,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Rival>> {
        let rated: Vec<u64> = book.players().iter().filter_map(|player| player.step).collect();
        for file in spread(&self.spread, &self.checkpoints, &rated) {
            self.checkpoints.push(file);
        }
        self.checkpoints.sort_by_key(|file| file.step);
        let cost = match limit {
            RatedLimit::Nodes(nodes) => Limit::nodes(nodes),
            RatedLimit::Milliseconds(time) => Limit::time(Duration::from_millis(time)),
        };
        let mut rivals = Vec::new();
        for file in self.checkpoints {
            let checkpoint = match Checkpoint::load(&file.path) {
                Ok(checkpoint) => checkpoint,
                Err(_) if !file.path.exists() => {
                    progress.note(&format!("step {}: the run has removed it meanwhile", file.step));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let name = format!("step {}", file.step);
            let entrant = Entrant {
                name: name.clone(),
                step: Some(file.step),
                sha256: Some(checkpoint.header.sha256.clone()),
            };
            let make = move || {
                let network = network(&name, Method::Gumbel, &checkpoint, device)?;
                Ok(Contestant::network(network, cost)?)
            };
            rivals.push(Rival { entrant, make: Box::new(make) });
        }
        for (name, spec) in self.others {
            let sha256 = spec.checkpoint().map(|checkpoint| checkpoint.header.sha256.clone());
            let entrant = Entrant { name, step: None, sha256 };
            let make = move || {
                let (precision, patience) = (None, Patience::default());
                spec.contestant(Terms { rules: &rules, limit: cost, device, precision, patience })
            };
            rivals.push(Rival { entrant, make: Box::new(make) });
        }
        Ok(rivals)
    }
}

/// Checkpoints to fill `chosen` up to [`CHECKPOINTS`] from `files`: those rated before first, so that they come to be known
/// better instead of others being begun, then always the one farthest from all chosen ones.
fn spread(
    files: &[CheckpointFile],
    chosen: &[CheckpointFile],
    rated: &[u64],
) -> Vec<CheckpointFile> {
    let mut steps: Vec<u64> = chosen.iter().map(|file| file.step).collect();
    let mut added = Vec::new();
    let count = CHECKPOINTS.min(files.len());
    while steps.len() < count {
        let distance = |file: &&CheckpointFile| {
            steps.iter().map(|step| step.abs_diff(file.step)).min().unwrap_or(u64::MAX)
        };
        let left = || files.iter().filter(|file| !steps.contains(&file.step));
        let known = left().filter(|file| rated.contains(&file.step)).max_by_key(distance);
        let Some(next) = known.or_else(|| left().max_by_key(distance)) else { break };
        steps.push(next.step);
        added.push(next.clone());
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_spread_and_known_ones_come_first() {
        let file = |step: u64| CheckpointFile { step, path: format!("{step}").into() };
        let files: Vec<_> = (0..=40).map(|number| file(100 * number)).collect();
        let chosen = [file(0), file(4000)];
        let steps = |rated: &[u64]| {
            let mut steps: Vec<u64> =
                spread(&files, &chosen, rated).iter().map(|file| file.step).collect();
            assert_eq!(steps.len(), CHECKPOINTS - chosen.len());
            steps.sort_unstable();
            steps
        };
        let even = steps(&[]);
        assert!(even.windows(2).all(|pair| (200..=600).contains(&(pair[1] - pair[0]))), "{even:?}");
        let known = steps(&[300, 700]);
        assert!(known.contains(&300) && known.contains(&700), "{known:?}");
        let few = [file(0), file(10)];
        assert_eq!(spread(&few, &few[..1], &[]), [file(10)]);
        assert!(spread(&[], &chosen, &[]).is_empty());
    }
}
