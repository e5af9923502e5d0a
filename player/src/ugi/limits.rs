//! What a `go` line allows, and which share of a clock one decision gets.

use std::time::Duration;

use crate::messages::echo;
use gipf_core::Color;

/// How long a `go` that names no limit thinks.
const UNLIMITED: Duration = Duration::from_secs(1);
/// The limit of `infinite`: one that is never reached, since a player without any limit of time takes its own default.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);
/// Kept of a clock for what lies between the engine's clock and the controller's.
const OVERHEAD: Duration = Duration::from_millis(30);
/// Decisions that the rest of a clock must do for; a game asks each side for 20 to 50.
const DECISIONS: u32 = 30;

/// The limits of one `go`: each that stands there bounds the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// `nodes N`, 1 or more; more than fits stands as the largest number.
    pub(super) nodes: Option<u32>,
    /// `depth D`, 1 or more.
    pub(super) depth: Option<u32>,
    /// `infinite`: answer only after `stop`.
    pub(super) infinite: bool,
    /// `movetime MS`
    time: Option<Duration>,
    /// `p1time MS`, `p2time MS`: White's and Black's clocks.
    clocks: [Option<Duration>; 2],
    /// `p1inc MS`, `p2inc MS`: what each play adds to them.
    increments: [Duration; 2],
}

impl Limits {
    /// The limits that the words after `go` name. Unknown words are ignored.
    ///
    /// # Errors
    /// Says which word lacks its number, or has one out of range.
    pub(super) fn parse(words: &[&str]) -> Result<Limits, String> {
        let mut limits = Limits::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "nodes" => limits.nodes = Some(count(word, words.next())?),
                "depth" => limits.depth = Some(count(word, words.next())?),
                "movetime" => limits.time = Some(milliseconds(word, words.next())?),
                "p1time" => limits.clocks[0] = Some(milliseconds(word, words.next())?),
                "p2time" => limits.clocks[1] = Some(milliseconds(word, words.next())?),
                "p1inc" => limits.increments[0] = milliseconds(word, words.next())?,
                "p2inc" => limits.increments[1] = milliseconds(word, words.next())?,
                "infinite" => limits.infinite = true,
                _ => {}
            }
        }
        Ok(limits)
    }

    /// How long the decision of this side may take, counted from the `go`, with so many plays left to the game's limit;
    /// `None`: as long as the other limits let it.
    pub(super) fn time(&self, side: Color, plays_left: u32) -> Option<Duration> {
        if self.infinite {
            return Some(FOREVER);
        }
        // The plays that are left are shared with the other side.
        let decisions = DECISIONS.min(plays_left.div_ceil(2)).max(1);
        let share = self.clocks[side.index()]
            .map(|left| share(left, self.increments[side.index()], decisions));
        match (self.time, share) {
            (Some(time), Some(share)) => Some(time.min(share)),
            (None, None) => {
                let bounded = self.nodes.is_some() || self.depth.is_some();
                (!bounded).then_some(UNLIMITED)
            }
            (time, share) => time.or(share),
        }
    }
}

/// A decision's share of a clock: an even part of what is left, three quarters of the increment, and never more than half
/// of the clock less the overhead, so that a clock that runs down is not overrun.
fn share(left: Duration, increment: Duration, decisions: u32) -> Duration {
    let usable = left.saturating_sub(OVERHEAD);
    (usable / decisions).saturating_add(increment / 4 * 3).min(usable / 2)
}

fn count(word: &str, number: Option<&str>) -> Result<u32, String> {
    let number = number.unwrap_or_default();
    match number.parse::<u64>() {
        Ok(count @ 1..) => Ok(u32::try_from(count).unwrap_or(u32::MAX)),
        _ => Err(format!("go: {word} '{}' is no whole number of 1 or more", echo(number))),
    }
}

/// Milliseconds; a clock that is overdrawn, below 0, is an empty one.
fn milliseconds(word: &str, number: Option<&str>) -> Result<Duration, String> {
    let number = number.unwrap_or_default();
    number
        .parse::<i64>()
        .map(|milliseconds| Duration::from_millis(milliseconds.max(0).unsigned_abs()))
        .map_err(|_| format!("go: {word} '{}' is no number of milliseconds", echo(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Limits, String> {
        Limits::parse(&line.split(' ').collect::<Vec<_>>())
    }

    fn time(line: &str, side: Color) -> Option<u128> {
        parse(line).expect("limits").time(side, 400).map(|time| time.as_millis())
    }

    #[test]
    fn every_form_is_read() {
        let all =
            parse("nodes 5 depth 3 movetime 20 p1time 900 p2time -4 p1inc 7 p2inc 8 x").unwrap();
        let ms = Duration::from_millis;
        let expected = Limits {
            nodes: Some(5),
            depth: Some(3),
            infinite: false,
            time: Some(ms(20)),
            clocks: [Some(ms(900)), Some(ms(0))],
            increments: [ms(7), ms(8)],
        };
        assert_eq!(all, expected);
        assert_eq!(parse("nodes 99999999999").unwrap().nodes, Some(u32::MAX));
        for (line, words) in [
            ("nodes", "go: nodes ''"),
            ("nodes 0", "go: nodes '0'"),
            ("depth -1", "go: depth '-1'"),
            ("movetime soon", "go: movetime 'soon'"),
            ("p1time 1e3", "go: p1time '1e3'"),
        ] {
            assert!(parse(line).is_err_and(|error| error.starts_with(words)), "{line}");
        }
    }

    #[test]
    fn the_time_is_the_deciding_sides() {
        assert_eq!(time("movetime 50", Color::White), Some(50));
        assert_eq!(time("nodes 5", Color::White), None);
        assert_eq!(time("infinite p1time 60", Color::White), Some(FOREVER.as_millis()));
        assert_eq!(time("p2time 5000", Color::White), Some(UNLIMITED.as_millis()));
        assert_eq!(time("p1time 30030 p2time 60030", Color::White), Some(1000));
        assert_eq!(time("p1time 30030 p2time 60030 p2inc 1000", Color::Black), Some(2750));
        assert_eq!(time("p1time 30030 movetime 70", Color::White), Some(70));
        // Ten plays to the limit are five decisions of each side.
        assert_eq!(
            parse("p1time 1030").unwrap().time(Color::White, 10),
            Some(Duration::from_millis(200))
        );
    }

    #[test]
    fn a_clock_is_never_overrun() {
        // 300 decisions on one clock, each a millisecond later than it should be.
        for (start, increment) in [(10_000, 0), (1_000, 10), (400, 0), (60_000, 1_000)] {
            let mut left = Duration::from_millis(start);
            for decision in 0..300 {
                let limits = Limits {
                    clocks: [Some(left); 2],
                    increments: [Duration::from_millis(increment); 2],
                    ..Limits::default()
                };
                let used = limits.time(Color::White, 500).expect("a limit")
                    + Duration::from_micros(if left > OVERHEAD { 1_000 } else { 90 });
                assert!(
                    used < left,
                    "decision {decision} of {start}+{increment} takes {used:?} of {left:?}"
                );
                left = left - used + Duration::from_millis(increment);
            }
        }
    }
}
