//! From the trunk's rows to the answers: what the two heads do after their first layer, and where both precisions are one.

use super::kernel::{Job, Kernel, PAD, Rows, SPOTS};
use super::pack::{Network, Packed};
use super::work::{AddToSpots, Logits, Pool};
use crate::architecture::PLAYS_LEFT_SCALE;
use crate::evaluator::Evaluation;
use crate::features::Features;
use crate::policy::POLICY_GLOBALS;

/// How f32 layers are computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    pub(super) kernel: Kernel,
    /// Whether products are rounded before they are added: the same bits from every kernel.
    pub(super) rounded: bool,
}

impl Arithmetic {
    /// A layer with one tap over `rows` rows.
    pub(super) fn each(
        self,
        packed: &Packed,
        rows: usize,
        input: &[f32],
        relu: bool,
        out: &mut Vec<f32>,
    ) {
        let Packed { layer, bias } = packed;
        out.resize(rows * layer.outputs, 0.0);
        let rows = Rows::Each(rows);
        let (bias_by_position, residual) = (false, None);
        let job = Job { layer, rows, input, bias, bias_by_position, residual, relu };
        self.kernel.run(&job, self.rounded, out);
    }

    /// What the globals of a batch give to the first layer: a row a position.
    pub(super) fn stem_globals(
        self,
        network: &Network,
        batch: &[Features],
        globals: &mut Vec<f32>,
        out: &mut Vec<f32>,
    ) {
        globals.clear();
        batch.iter().for_each(|features| globals.extend_from_slice(&features.globals));
        self.each(&network.stem_globals, batch.len(), globals, false, out);
    }
}

/// Room for the numbers of the heads.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadRooms {
    pooled: Vec<f32>,
    bias: Vec<f32>,
    globals: Vec<f32>,
    hidden_in: Vec<f32>,
    hidden: Vec<f32>,
    out: Vec<f32>,
    terms: Vec<f32>,
}

/// Both heads after their first layer: `policy` and `value` are its rows a spot.
pub(super) fn answer(
    network: &Network,
    how: Arithmetic,
    batch: &[Features],
    (policy, value): (&mut [f32], &[f32]),
    rooms: &mut HeadRooms,
    out: &mut [Evaluation],
) {
    let (count, width, value_width) = (batch.len(), network.width, network.value_width);
    // What the policy head's pool adds is the same on all spots of a position.
    rooms.pooled.resize(count * 2 * width, 0.0);
    let pool = Pool { rows: policy, width, out: &mut rooms.pooled, out_stride: 2 * width };
    how.kernel.work(pool);
    how.each(&network.policy_pool, count, &rooms.pooled, false, &mut rooms.bias);
    how.each(&network.policy_globals, count, &rooms.pooled, false, &mut rooms.globals);
    how.kernel.work(AddToSpots { rows: policy, width, addends: &rooms.bias });

    let stride = network.value_hidden.layer.input_stride;
    rooms.hidden_in.resize(count * stride, 0.0);
    let pool =
        Pool { rows: value, width: value_width, out: &mut rooms.hidden_in, out_stride: stride };
    how.kernel.work(pool);
    for (row, features) in rooms.hidden_in.chunks_mut(stride).zip(batch) {
        row[2 * value_width..].copy_from_slice(&features.globals);
    }
    how.each(&network.value_hidden, count, &rooms.hidden_in, true, &mut rooms.hidden);
    how.each(&network.value_out, count, &rooms.hidden, false, &mut rooms.out);

    for (at, (features, evaluation)) in batch.iter().zip(out).enumerate() {
        let terms = features.policy.terms();
        rooms.terms.resize(terms.len(), 0.0);
        how.kernel.work(Logits {
            network,
            terms,
            rows: &policy[at * SPOTS * width..][..SPOTS * width],
            globals: &rooms.globals[at * PAD..][..POLICY_GLOBALS],
            out: &mut rooms.terms,
        });
        features.policy.logits_of_terms(&rooms.terms, &mut evaluation.logits);
        outcome(&rooms.out[at * PAD..][..4], evaluation);
    }
}

/// Softmax of the three outcomes, and the plays left.
fn outcome(numbers: &[f32], evaluation: &mut Evaluation) {
    let most = numbers[..3].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponentials = [0, 1, 2].map(|i| (numbers[i] - most).exp());
    let sum: f32 = exponentials.iter().sum();
    evaluation.value = exponentials.map(|value| value / sum);
    // Softplus, in the form that overflows for no number.
    let x = numbers[3];
    evaluation.plays_left = (x.max(0.0) + (-x.abs()).exp().ln_1p()) * PLAYS_LEFT_SCALE;
}
