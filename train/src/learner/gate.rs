//! Gating: self-play uses a new checkpoint only once it has won a sequential test against the best one.
//!
//! Every save point is a candidate. Beside self-play one test at a time goes on, on a thread of its own, and the newest save
//! point is the next candidate; a deterministic run plays each test at its save point. The learner learns on in any case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::anyhow;
use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_selfplay::{Contestant, Decision, Limit, Match, MatchConfig, MatchResult, Method, Sprt};

use super::report::main_rules;
use super::session::Session;
use crate::config::CpuPrecision;
use crate::evaluators::{network, network_with};
use crate::run::{GateDecision, GateOutcome};

/// A test to be played.
#[derive(Debug, Clone)]
struct Trial {
    candidate: Checkpoint,
    best: Checkpoint,
    test: Sprt,
    rules: Rules,
    max_plays: u32,
    games: u32,
    simulations: u32,
    device: Device,
    precision: CpuPrecision,
    seed: u64,
}

impl Trial {
    /// Plays it, on this thread; the candidate is the first player, and the best network judges the openings.
    fn play(&self, stop: &(dyn Fn() -> bool + Sync)) -> anyhow::Result<MatchResult> {
        let player = |checkpoint: &Checkpoint| -> anyhow::Result<Contestant> {
            let name = format!("step {}", checkpoint.header.step);
            let (device, precision) = (self.device, self.precision);
            let network = network_with(&name, Method::Gumbel, checkpoint, device, precision)?;
            Ok(Contestant::network(network, Limit::nodes(self.simulations))?)
        };
        let config = MatchConfig {
            games: self.games,
            max_plays: self.max_plays,
            sprt: Some(self.test),
            ..MatchConfig::new(self.rules, self.seed)
        };
        let sides = [player(&self.candidate)?, player(&self.best)?];
        let judge = network("judge", Method::Gumbel, &self.best, self.device)?;
        let mut game = Match::new(config, vec![sides], Some(judge))?;
        Ok(game.run(stop, &mut |_| {}, &mut |_| {})?)
    }
}

/// A test under way beside self-play.
pub(super) struct Gate {
    step: u64,
    best: u64,
    begun: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<anyhow::Result<MatchResult>>>,
}

impl Gate {
    /// Whether its last game is over.
    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end; the result.
    fn join(mut self) -> anyhow::Result<MatchResult> {
        let Some(thread) = self.thread.take() else { return Ok(MatchResult::default()) };
        thread.join().map_err(|_| anyhow!("a gate broke down (a bug: its words are above)"))?
    }
}

impl Drop for Gate {
    /// A test that nobody waits for ends without an outcome.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its failure has nobody to tell any more; the next start tests the checkpoint again.
            let _ = thread.join();
        }
    }
}

impl Session {
    /// The step of the checkpoint that self-play uses: the best one's, or the present one.
    pub(super) fn playing_step(&self) -> u64 {
        let state = &self.folder.state;
        let newest = state.grown_at.filter(|_| self.is_distilling()).unwrap_or(state.step);
        state.best.unwrap_or(newest)
    }

    /// Whether self-play waits for tests.
    pub(super) fn is_gated(&self) -> bool {
        self.config.gating.test().is_some()
    }

    /// Settles which checkpoint is the best before self-play begins: with gating the one of the state, or else the newest;
    /// without it none.
    ///
    /// # Errors
    /// The state cannot be written.
    pub(super) fn begin_gating(&mut self) -> anyhow::Result<()> {
        let games = u64::from(self.config.gating.games);
        let fewest = self.config.gating.test().map(|test| test.fewest_games());
        if let Some(fewest) = fewest.filter(|&fewest| fewest > games) {
            self.progress.note(&format!(
                "gating.games is {games}: a test accepts nothing before {fewest}, so self-play stays with the checkpoint it has"
            ));
        }
        let there = |step: u64| self.folder.checkpoint_path(step).is_file();
        let state = &self.folder.state;
        let newest = Some(self.saved_step());
        let (best, judged) = if !self.is_gated() {
            (None, None)
        } else if state.best.is_some_and(there) {
            (state.best, state.judged)
        } else {
            (newest, newest)
        };
        if (best, judged) != (state.best, state.judged) {
            let state = &mut self.folder.state;
            (state.best, state.judged) = (best, judged);
            self.folder.save_best()?;
        }
        Ok(())
    }

    /// The test of the newest save point, unless it has had one.
    fn trial(&self) -> anyhow::Result<Option<Trial>> {
        let (config, state) = (&self.config, &self.folder.state);
        let (Some(test), Some(best)) = (config.gating.test(), state.best) else { return Ok(None) };
        let step = self.saved_step();
        if state.judged.is_some_and(|judged| judged >= step) || step == best {
            return Ok(None);
        }
        Ok(Some(Trial {
            candidate: Checkpoint::load(&self.folder.checkpoint_path(step))?,
            best: Checkpoint::load(&self.folder.checkpoint_path(best))?,
            test,
            rules: main_rules(config)?,
            max_plays: config.rules.max_plays,
            games: config.gating.games,
            simulations: config.gating.simulations,
            device: self.device,
            precision: self.config.self_play.precision,
            // Other openings and other choices for every candidate.
            seed: config.run.seed.wrapping_add(step),
        }))
    }

    /// Begins to test the newest save point on a thread of its own, if it is to be tested.
    ///
    /// # Errors
    /// A checkpoint cannot be read, or the thread cannot be made.
    pub(super) fn start_gate(&mut self) -> anyhow::Result<Option<Gate>> {
        let Some(trial) = self.trial()? else { return Ok(None) };
        let (step, best) = (trial.candidate.header.step, trial.best.header.step);
        self.folder.under_test = Some(step);
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let play = move || trial.play(&|| flag.load(Ordering::Relaxed));
        let thread = thread::Builder::new().name("gate".to_owned()).spawn(play)?;
        Ok(Some(Gate { step, best, begun: Instant::now(), stop, thread: Some(thread) }))
    }

    /// Takes the result of a test that is over. Returns whether the best checkpoint is another one now.
    ///
    /// # Errors
    /// The match failed, or its outcome cannot be written.
    pub(super) fn end_gate(&mut self, gate: Gate) -> anyhow::Result<bool> {
        let (step, best, begun) = (gate.step, gate.best, gate.begun);
        let result = gate.join()?;
        self.settle(step, best, &result, begun.elapsed().as_secs_f64())
    }

    /// Tests the newest save point here and now, if it is to be tested. A stop leaves it untested. Returns whether the best
    /// checkpoint is another one now.
    ///
    /// # Errors
    /// A checkpoint cannot be read, the match fails, or its outcome cannot be written.
    pub(super) fn judge(&mut self) -> anyhow::Result<bool> {
        let Some(trial) = self.trial()? else { return Ok(false) };
        self.progress.stage("testing the new checkpoint");
        let (step, best) = (trial.candidate.header.step, trial.best.header.step);
        let begun = (!self.config.run.deterministic).then(Instant::now);
        let stop = self.stop.clone();
        let result = trial.play(&|| stop.is_set())?;
        self.settle(step, best, &result, begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64()))
    }

    /// Writes an outcome down, first for people and then in the state, and tells it.
    fn settle(
        &mut self,
        step: u64,
        best: u64,
        result: &MatchResult,
        seconds: f64,
    ) -> anyhow::Result<bool> {
        self.folder.under_test = None;
        let Some(decision) = decision(result) else { return Ok(false) };
        // A test whose outcome a killed process wrote down, but not in the state, is played again.
        let earlier = self.folder.gates()?.into_iter().rev().find(|gate| gate.step < step);
        let before = earlier.map_or(0.0, |gate| gate.best_elo);
        let outcome = outcome(step, best, result, decision, before, seconds);
        self.folder.add_gate(&outcome)?;
        let accepted = decision == GateDecision::Accepted;
        let state = &mut self.folder.state;
        state.judged = Some(step);
        if accepted {
            state.best = Some(step);
        }
        self.folder.save_best()?;
        self.scalars.add(
            step,
            &[
                ("gate/score", outcome.score),
                ("gate/llr", outcome.llr),
                ("gate/accepted", f64::from(u8::from(accepted))),
                ("elo/best", outcome.best_elo),
            ],
        );
        self.progress.note(&words(&outcome));
        Ok(accepted)
    }
}

/// What a test's games decide; nothing where it was stopped.
fn decision(result: &MatchResult) -> Option<GateDecision> {
    match result.sprt.and_then(|test| test.decision) {
        Some(Decision::Accept1) => Some(GateDecision::Accepted),
        Some(Decision::Accept0) => Some(GateDecision::Rejected),
        None if result.stopped => None,
        None => Some(GateDecision::Undecided),
    }
}

fn outcome(
    step: u64,
    best: u64,
    result: &MatchResult,
    decision: GateDecision,
    before: f64,
    seconds: f64,
) -> GateOutcome {
    let elo = result.elo();
    let gained = match decision {
        GateDecision::Accepted => elo.difference.or(elo.low).unwrap_or(0.0),
        GateDecision::Rejected | GateDecision::Undecided => 0.0,
    };
    GateOutcome {
        step,
        best,
        decision,
        games: result.games,
        score: result.score(),
        elo: elo.difference,
        elo_low: elo.low,
        elo_high: elo.high,
        llr: result.sprt.map_or(0.0, |test| test.llr),
        best_elo: before + gained,
        seconds,
    }
}

/// A line for the progress log.
fn words(outcome: &GateOutcome) -> String {
    let what = match outcome.decision {
        GateDecision::Accepted => "accepted: self-play uses it now",
        GateDecision::Rejected => "rejected: the best goes on playing",
        GateDecision::Undecided => "undecided: the best goes on playing",
    };
    format!(
        "gate: step {} against the best, step {}: {:.1}% of {} games, log-likelihood ratio {:+.2}, {what}",
        outcome.step,
        outcome.best,
        100.0 * outcome.score,
        outcome.games,
        outcome.llr
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_selfplay::BuiltIn;

    /// A test of up to 60 games between players of known strength.
    fn tested(candidate: BuiltIn, best: BuiltIn, stop: bool) -> MatchResult {
        let player = |kind: BuiltIn| Contestant::built_in(kind, Limit::nodes(1));
        let config = MatchConfig {
            games: 60,
            sprt: Some(Sprt { elo0: 0.0, elo1: 50.0, alpha: 0.05, beta: 0.05 }),
            ..MatchConfig::new("basic".parse().expect("rules"), 3)
        };
        let mut game =
            Match::new(config, vec![[player(candidate), player(best)]], None).expect("a match");
        game.run(&|| stop, &mut |_| {}, &mut |_| {}).expect("plays")
    }

    #[test]
    fn a_worse_candidate_is_rejected_and_a_better_one_accepted() {
        let better = tested(BuiltIn::Greedy, BuiltIn::Random, false);
        assert_eq!(decision(&better), Some(GateDecision::Accepted));
        let worse = tested(BuiltIn::Random, BuiltIn::Greedy, false);
        assert_eq!(decision(&worse), Some(GateDecision::Rejected));
        assert!(worse.games < 60, "it ends as soon as it is decided: {} games", worse.games);
        let equal = tested(BuiltIn::Greedy, BuiltIn::Greedy, false);
        assert_eq!(decision(&equal), Some(GateDecision::Undecided));
        assert_eq!(decision(&tested(BuiltIn::Greedy, BuiltIn::Random, true)), None);
    }

    #[test]
    fn only_an_accepted_lead_is_summed() {
        let better = tested(BuiltIn::Greedy, BuiltIn::Random, false);
        let one = outcome(20, 10, &better, GateDecision::Accepted, 100.0, 0.0);
        let lead = better.elo();
        assert_eq!(one.best_elo, 100.0 + lead.difference.or(lead.low).expect("a bound"));
        let worse = tested(BuiltIn::Random, BuiltIn::Greedy, false);
        let two = outcome(30, 20, &worse, GateDecision::Rejected, one.best_elo, 0.0);
        assert_eq!(two.best_elo, one.best_elo);
        let line = words(&two);
        assert!(line.contains("step 30 against the best, step 20") && line.contains("rejected"));
    }
}
