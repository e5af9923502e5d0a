//! Learners and workers as processes, and what they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::{records, state, succeed};

/// A process that is killed when dropped.
pub(crate) struct Program {
    child: Child,
    log: PathBuf,
}

/// What a process is started with beside its arguments.
#[derive(Default, Clone)]
pub(crate) struct With {
    /// `GIPF_FAULT`.
    pub(crate) fault: Option<String>,
    /// Before the program: `ip netns exec NAME`.
    pub(crate) inside: Vec<String>,
    /// More options.
    pub(crate) options: Vec<String>,
}

impl With {
    pub(crate) fn options(words: &[&str]) -> Self {
        Self { options: words.iter().map(ToString::to_string).collect(), ..Self::default() }
    }
}

fn gipf(with: &With) -> Command {
    let program = env!("CARGO_BIN_EXE_gipf");
    match with.inside.split_first() {
        None => Command::new(program),
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    }
}

impl Program {
    fn start(mut command: Command, with: &With, log: PathBuf) -> Self {
        let file = fs::File::options().create(true).append(true).open(&log).unwrap();
        command.args(&with.options).env("GIPF_LOG", "info,gipf_train=debug,async_nats=off");
        if let Some(fault) = &with.fault {
            command.env("GIPF_FAULT", fault);
        }
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Self { child: command.spawn().unwrap(), log }
    }

    /// `gipf learn CONFIG --run RUN --nats URL`; what it says goes to `RUN.log`.
    pub(crate) fn learner(config: &Path, run: &Path, url: &str, with: &With) -> Self {
        let mut command = gipf(with);
        command.arg("learn").arg(config).arg("--run").arg(run).args(["--nats", url]);
        Self::start(command, with, run.with_extension("log"))
    }

    /// `gipf worker --nats URL --run tiny --dir DIR --threads 1`; what it says goes to `DIR.log`.
    pub(crate) fn worker(folder: &Path, url: &str, with: &With) -> Self {
        let mut command = gipf(with);
        command.args(["worker", "--nats", url, "--run", "tiny", "--threads", "1", "--dir"]);
        command.arg(folder);
        Self::start(command, with, folder.with_extension("log"))
    }

    /// `kill -9`, if it has not ended yet.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has said something, since its place was begun, so many times.
    pub(crate) fn wait_for_words(&self, words: &str, times: usize) {
        wait_until(words, Duration::from_secs(60), || self.said().matches(words).count() >= times);
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, as Ctrl-C does; it must end well.
    pub(crate) fn stop(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let status = self.wait(Duration::from_secs(60));
        assert!(status.success(), "{status}: {}", self.said());
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, limit: Duration) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(began.elapsed() < limit, "it does not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All that was said in its place, by it and by those before it.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The games that the workers of a folder counted, from their logs: `RUN/WORKER/NUMBER`.
pub(crate) fn counted(logs: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for log in logs {
        let text = fs::read_to_string(log).unwrap_or_default();
        found.extend(
            text.lines().filter_map(|line| Some(line.split_once("counted ")?.1.to_owned())),
        );
    }
    // A summary at a worker's end says "N games counted", and nothing after it.
    found.retain(|id| id.matches('/').count() == 2);
    found
}

/// The games on a learner's disk, as `RUN/WORKER/NUMBER`; none may be there twice, and all must be counted.
pub(crate) fn stored(run: &Path) -> BTreeSet<String> {
    let lines = records(run);
    let ids: BTreeSet<String> = lines
        .iter()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let id = &record["id"];
            format!(
                "{}/{}/{}",
                id["run"].as_str().unwrap(),
                id["worker"].as_str().unwrap(),
                id["seq"]
            )
        })
        .collect();
    assert_eq!(ids.len(), lines.len(), "a game is stored twice");
    assert_eq!(
        state(run)["games"].as_u64(),
        Some(lines.len() as u64),
        "every stored game counts once"
    );
    ids
}

/// `gipf status --json` of the run `tiny`.
pub(crate) fn status(url: &str, options: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.args(["status", "--nats", url, "--run", "tiny", "--json"]).args(options);
    let value: Value = serde_json::from_slice(&succeed(&mut command).stdout).unwrap();
    value["runs"][0].clone()
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "waited {limit:?} for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until the server holds no more games for the learner.
pub(crate) fn wait_for_intake(url: &str, options: &[&str]) {
    wait_until("the learner to take all games in", Duration::from_secs(120), || {
        status(url, options)["backlog_messages"] == 0
    });
}

/// Processor seconds of a process so far.
pub(crate) fn processor_seconds(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let after = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    // User and system time are fields 14 and 15, in ticks of 10 ms.
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
