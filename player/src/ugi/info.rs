//! A search's thoughts as `info` lines.

use std::time::Duration;

use gipf_core::Play;
use gipf_selfplay::{Score, Thought};

/// A proven win counts as so many centipieces, less one for each play to it; a proven loss as much below zero.
const PROVEN: i32 = 30_000;
/// The most that material counts, so that it is never taken for a proof.
const MOST_MATERIAL: i32 = 20_000;

/// The `info` lines of a thought, so long after the `go`: one for each candidate it tells of, numbered by `multipv` from the best on,
/// or a single one.
pub(super) fn lines(thought: &Thought, elapsed: Duration) -> Vec<String> {
    if thought.candidates.is_empty() {
        return vec![line(thought, elapsed, None, thought.score, &thought.line)];
    }
    let candidates = thought.candidates.iter().zip(1..);
    candidates
        .map(|(found, place)| line(thought, elapsed, Some(place), Some(found.score), &found.line))
        .collect()
}

fn line(
    thought: &Thought,
    elapsed: Duration,
    place: Option<u32>,
    score: Option<Score>,
    plays: &[Play],
) -> String {
    let nodes = thought.nodes;
    let mut text = format!("info depth {}", thought.depth);
    if let Some(place) = place {
        text += &format!(" multipv {place}");
    }
    text += &format!(" nodes {nodes}");
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 {
        text += &format!(" nps {:.0}", nodes as f64 / seconds);
    }
    text += &format!(" time {}", elapsed.as_millis());
    if let Some(score) = score {
        text += &format!(" score {}", score_words(score));
    }
    if !plays.is_empty() {
        text += " pv";
        for play in plays {
            text += &format!(" {play}");
        }
    }
    text
}

/// `cp X` or `wdl W D L`, the latter summing to 1000.
fn score_words(score: Score) -> String {
    match score {
        Score::Material(centipieces) => {
            format!("cp {}", centipieces.clamp(-MOST_MATERIAL, MOST_MATERIAL))
        }
        Score::Proven(plays) => {
            let distance = i32::try_from(plays.unsigned_abs()).unwrap_or(i32::MAX);
            let value = PROVEN.saturating_sub(distance).max(MOST_MATERIAL + 1);
            format!("cp {}", if plays < 0 { -value } else { value })
        }
        Score::Outcomes([win, _, loss]) => {
            let mille = |share: f32| (1000.0 * share.clamp(0.0, 1.0)).round() as u32;
            let win = mille(win);
            let loss = mille(loss).min(1000 - win);
            format!("wdl {win} {} {loss}", 1000 - win - loss)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_selfplay::Candidate;

    #[test]
    fn scores_are_the_deciding_sides() {
        for (score, words) in [
            (Score::Material(-25), "cp -25"),
            (Score::Material(999_999), "cp 20000"),
            (Score::Proven(3), "cp 29997"),
            (Score::Proven(-4), "cp -29996"),
            (Score::Proven(i32::MIN), "cp -20001"),
            (Score::Outcomes([0.6, 0.1, 0.3]), "wdl 600 100 300"),
            (Score::Outcomes([0.4996, 0.0, 0.5004]), "wdl 500 0 500"),
            (Score::Outcomes([0.9999, 0.0, 0.0006]), "wdl 1000 0 0"),
            (Score::Outcomes([f32::NAN, 0.0, 0.5]), "wdl 0 500 500"),
        ] {
            assert_eq!(score_words(score), words, "{score:?}");
        }
    }

    #[test]
    fn a_line_has_what_is_known() {
        let line: Vec<Play> = ["e1-e2", "i4-h5"].map(|play| play.parse().expect("a play")).into();
        let score = Score::Material(5);
        let mut thought = Thought {
            depth: 2,
            nodes: 300,
            score: Some(score),
            line: line.clone(),
            candidates: Vec::new(),
        };
        let at = Duration::from_millis(200);
        let told = "nodes 300 nps 1500 time 200 score cp 5 pv e1-e2 i4-h5";
        assert_eq!(lines(&thought, at), [format!("info depth 2 {told}")]);
        let candidate = Candidate { visits: 250, share: 0.9, score, line };
        let other =
            Candidate { score: Score::Material(-3), line: vec![Play::PASS], ..candidate.clone() };
        thought.candidates = vec![candidate, other];
        assert_eq!(
            lines(&thought, at),
            [
                format!("info depth 2 multipv 1 {told}"),
                format!(
                    "info depth 2 multipv 2 nodes 300 nps 1500 time 200 score cp -3 pv {}",
                    Play::PASS
                )
            ]
        );
        assert_eq!(lines(&Thought::default(), Duration::ZERO), ["info depth 0 nodes 0 time 0"]);
    }
}
