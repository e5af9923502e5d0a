//! The work of a study: runs and matches as long as there is time.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, bail};
use gipf_train::run::{RunFolder, RunView};
use serde_json::{Value, json};

use super::gipf::Gipf;
use super::plan::{Comparison, Plan};

/// What came of a piece of work.
pub(super) enum Outcome {
    /// It is done, now or before.
    Done(Value),
    /// The time is up.
    OutOfTime,
}

/// Where the work is done.
pub(super) struct Workshop<'a> {
    plan: &'a Plan,
    gipf: Gipf,
    runs: PathBuf,
}

impl<'a> Workshop<'a> {
    /// A workshop in a folder, which is made.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(super) fn new(plan: &'a Plan, runs: PathBuf, gipf: Gipf) -> anyhow::Result<Self> {
        fs::create_dir_all(&runs).with_context(|| runs.display().to_string())?;
        Ok(Workshop { plan, gipf, runs })
    }

    fn run(&self, arm: &str, seed: u64) -> PathBuf {
        self.runs.join(format!("{arm}-{seed}"))
    }

    /// Trains an arm's run of a seed to its end; what it used.
    ///
    /// # Errors
    /// The program fails; its log, beside the run, says why.
    pub(super) fn train(&self, arm: &str, seed: u64) -> anyhow::Result<Outcome> {
        let (run, minutes) = (self.run(arm, seed), self.plan.cpu_minutes_of(&self.plan.arms[arm]));
        if let Some(used) = finished(&run, minutes)? {
            return Ok(Outcome::Done(used));
        }
        let mut command = self.gipf.command();
        command.arg("train").arg(&self.plan.config).arg("--run").arg(&run);
        if !RunFolder::holds_run(&run) {
            let limits = [
                format!("run.seed={seed}"),
                "run.minutes=0".to_owned(),
                format!("run.cpu_minutes={minutes}"),
                "report.games=0".to_owned(),
            ];
            for setting in limits.iter().chain(&self.plan.set).chain(&self.plan.arms[arm].set) {
                command.arg("--set").arg(setting);
            }
        }
        println!("training {}", run.display());
        let log = run.with_extension("log");
        let file = File::options().create(true).append(true).open(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let ended = self.gipf.wait(command.spawn()?)?;
        match finished(&run, minutes)? {
            Some(used) => Ok(Outcome::Done(used)),
            None if !ended => Ok(Outcome::OutOfTime),
            None => bail!("{} did not come to its end: see {}", run.display(), log.display()),
        }
    }

    /// Plays a comparison's match of a seed to its end; what `gipf match --json` says of it.
    ///
    /// # Errors
    /// The program fails.
    pub(super) fn play(&self, comparison: &Comparison, seed: u64) -> anyhow::Result<Outcome> {
        let name = format!("{}-{}-{seed}", comparison.a, comparison.b);
        let output = self.runs.join(format!("{name}.json"));
        if self.gipf.is_over() {
            return Ok(Outcome::OutOfTime);
        }
        println!("match {name}");
        // Called from the folder of the runs, so that the results name the players alike on every machine.
        let player = |arm: &str| format!("run:{arm}-{seed}@latest");
        let limit = match comparison.movetime {
            Some(milliseconds) => ["--movetime".to_owned(), milliseconds.to_string()],
            None => ["--nodes".to_owned(), self.plan.nodes.to_string()],
        };
        let mut command = self.gipf.command();
        command
            .arg("match")
            .args([player(&comparison.a), player(&comparison.b)])
            .args(["--games", &self.plan.games_of(comparison).to_string()])
            .args(limit)
            .args(["--seed", &seed.to_string(), "--json", "--records"])
            .arg(format!("{name}.jsonl"))
            .current_dir(&self.runs)
            .stdout(File::create(&output)?)
            .stderr(Stdio::null());
        let ended = self.gipf.wait(command.spawn()?)?;
        let text = fs::read_to_string(&output)?;
        match serde_json::from_str::<Value>(&text) {
            Ok(result) if result["stopped"] == json!(false) => Ok(Outcome::Done(result)),
            _ if !ended => Ok(Outcome::OutOfTime),
            _ => bail!("the match {name} did not come to its end"),
        }
    }
}

/// What a run has used, if it has had its processor time.
fn finished(run: &std::path::Path, minutes: f64) -> anyhow::Result<Option<Value>> {
    if !RunFolder::holds_run(run) {
        return Ok(None);
    }
    let view = RunView::open(run)?;
    let Some(last) = view.history()?.pop().filter(|last| last.cpu_seconds >= 60.0 * minutes) else {
        return Ok(None);
    };
    Ok(Some(json!({
        "cpu_minutes": last.cpu_seconds / 60.0,
        "steps": last.step,
        "games": last.games,
        "positions": last.positions,
        "samples_trained": view.state.samples_trained,
    })))
}
