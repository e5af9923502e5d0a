//! What a long command shows while it works: a live line on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the live line changes, and how often a plain line is printed.
const LIVE: Duration = Duration::from_millis(250);
const PLAIN: Duration = Duration::from_secs(10);

/// Steps of the bar.
const LENGTH: u64 = 1000;

/// The live line, for whoever else has something to say meanwhile.
static LIVE_LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Shows the stage a command is in and how far it is, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    stage: String,
    shown: Option<Instant>,
}

impl Progress {
    /// Live on a terminal, plain lines where standard error goes to a file or a pipe.
    pub fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(LENGTH), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {prefix} {bar:20} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(120));
            *LIVE_LINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
            bar
        });
        Progress { bar, stage: String::new(), shown: None }
    }

    /// Begins a stage; says so at once.
    pub fn stage(&mut self, stage: &str) {
        if self.stage == stage {
            return;
        }
        stage.clone_into(&mut self.stage);
        self.shown = None;
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(stage.to_owned());
                bar.set_message("");
                bar.set_position(0);
            }
            None => line(stage),
        }
    }

    /// Shows how far the stage is (`done` in 0 to 1, where that is known); `text` is asked only when it is shown.
    pub fn update(&mut self, done: Option<f64>, text: impl FnOnce() -> String) {
        let interval = if self.bar.is_some() { LIVE } else { PLAIN };
        if self.shown.is_some_and(|when| when.elapsed() < interval) {
            return;
        }
        self.shown = Some(Instant::now());
        match &self.bar {
            Some(bar) => {
                bar.set_position((done.unwrap_or(0.0).clamp(0.0, 1.0) * LENGTH as f64) as u64);
                bar.set_message(text());
            }
            None => line(&format!("{}: {}", self.stage, text())),
        }
    }

    /// One line that stays, above the live one.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => line(text),
        }
    }

    /// Takes the live line away.
    pub fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            *LIVE_LINE.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A line on standard error; one that nobody can read any more is no failure.
fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Log lines on standard error, above the live line where there is one.
#[derive(Debug, Default)]
pub struct LogLines(Vec<u8>);

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.0).trim_end().to_owned();
        self.0.clear();
        if !text.is_empty() {
            match &*LIVE_LINE.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(bar) => bar.println(text),
                None => line(&text),
            }
        }
        Ok(())
    }
}

impl Drop for LogLines {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// A duration for people: `42 s`, `9 min 05 s`, `3 h 07 min`.
pub fn human_time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A count for people: `950`, `12.3k`, `4.56M`.
pub fn human_count(count: u64) -> String {
    match count {
        0..=9_999 => count.to_string(),
        10_000..=999_999 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.2}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_read_well() {
        assert_eq!(human_time(41.6), "42 s");
        assert_eq!(human_time(545.0), "9 min 05 s");
        assert_eq!(human_time(11_240.0), "3 h 07 min");
        assert_eq!(human_count(9_999), "9999");
        assert_eq!(human_count(12_345), "12.3k");
        assert_eq!(human_count(4_560_000), "4.56M");
    }
}
