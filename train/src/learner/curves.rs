//! What a run shows of itself: TensorBoard's curves and the progress line.

use gipf_model_torch::{Metrics, WeightSet};

use super::limits::Limits;
use super::session::{Session, pack};
use crate::progress::{human_count, human_time};
use crate::window::ValueMix;

/// Steps between two looks at the games never trained on.
const HELD_OUT_STEPS: u64 = 100;
/// Samples of such a look.
const HELD_OUT_SAMPLES: usize = 512;

impl Session {
    /// The losses on games never trained on, where there are enough of them for a batch.
    fn held_out(&mut self) -> anyhow::Result<Option<Metrics>> {
        let train = &self.config.train;
        if self.replay.held_out().len() < HELD_OUT_SAMPLES {
            return Ok(None);
        }
        let mix = ValueMix { from_search: train.value_from_search as f32 };
        self.replay.draw_held_out(HELD_OUT_SAMPLES, mix, &mut self.samples);
        let batch = pack(&mut self.samples)?;
        Ok(Some(self.learner.evaluate(&batch, WeightSet::Averaged)?))
    }

    /// A point of every curve.
    pub(super) fn draw_curves(&mut self) -> anyhow::Result<()> {
        self.last = self.meters.take();
        let point = self.last;
        let mut values = vec![
            ("train/learning_rate", self.rate),
            ("train/steps_per_second", point.steps_per_second),
            ("window/samples", self.replay.train().len() as f64),
            ("self_play/positions_per_second", point.positions_per_second),
            ("self_play/evaluations_per_second", point.evaluations_per_second),
            ("self_play/games", self.folder.state.games as f64),
            ("run/cpu_share", point.cpu_share),
        ];
        if let Some(losses) = point.losses {
            values.extend([
                ("loss/total", losses.total),
                ("loss/policy", losses.policy),
                ("loss/value", losses.value),
                ("loss/plays_left", losses.plays_left),
                ("loss/policy_over_target", losses.policy - losses.target_entropy),
            ]);
        }
        let heads = self.config.train.auxiliary();
        let of_heads = |reply: (&'static str, f64), swing: (&'static str, f64)| {
            [heads.reply.then_some(reply), heads.swing.then_some(swing)].into_iter().flatten()
        };
        if let Some(losses) = point.losses {
            values.extend(of_heads(("loss/reply", losses.reply), ("loss/swing", losses.swing)));
        }
        let optional = [
            ("self_play/batch_fill", point.batch_fill),
            ("self_play/cache_hits", point.cache_hits),
            ("self_play/gpu_batch", point.executor_rows),
            ("game/length", point.length),
            ("game/white_score", point.white_score),
            ("game/unfinished", point.unfinished),
        ];
        values.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
        if self.folder.state.step.is_multiple_of(HELD_OUT_STEPS)
            && let Some(held_out) = self.held_out()?
        {
            values.extend([
                ("held_out/policy", held_out.losses.policy),
                ("held_out/value", held_out.losses.value),
                ("held_out/policy_accuracy", held_out.policy_accuracy),
                ("held_out/calibration", held_out.calibration_error()),
            ]);
            let losses = held_out.losses;
            values.extend(of_heads(
                ("held_out/reply", losses.reply),
                ("held_out/swing", losses.swing),
            ));
        }
        self.scalars.add(self.folder.state.step, &values);
        Ok(())
    }

    /// Shows where the run stands: called often, shown a few times a second.
    pub(super) fn show(&mut self) {
        let used = self.used();
        let share = self.limits.share(&used);
        let (state, window, minimum) =
            (&self.folder.state, self.replay.train().made(), self.config.window.minimum);
        let (filling, cached) = (window < minimum, self.config.self_play.cache_megabytes > 0);
        let point = if self.meters.is_telling() { self.meters.peek() } else { self.last };
        let left =
            self.limits.seconds_left(&self.at_start, &used, used.seconds - self.at_start.seconds);
        self.progress.update((self.limits != Limits::NONE).then_some(share), || {
            let mut text = format!(
                "{} games, {} positions",
                human_count(state.games),
                human_count(state.positions)
            );
            if point.positions_per_second > 0.0 {
                text += &format!(" ({:.0}/s)", point.positions_per_second);
            }
            if let Some(fill) = point.batch_fill {
                text += &format!(", batch fill {:.0}%", 100.0 * fill);
            }
            if let Some(rows) = point.executor_rows {
                text += &format!(", {rows:.0} positions a GPU batch");
            }
            if let Some(hits) = point.cache_hits
                && cached
            {
                text += &format!(", cache hits {:.0}%", 100.0 * hits);
            }
            if filling {
                text += &format!(
                    ", window {} of {} samples",
                    human_count(window),
                    human_count(minimum)
                );
            } else {
                text += &format!(", step {}", state.step);
                if let Some(losses) = point.losses {
                    text += &format!(
                        ", loss {:.3} (policy {:.3}, value {:.3})",
                        losses.total, losses.policy, losses.value
                    );
                }
            }
            if let Some(left) = left {
                text += &format!(", {} left", human_time(left));
            }
            text
        });
    }
}
