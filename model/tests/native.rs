//! The native network against the formulas of the architecture, written out plainly in f64.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

mod common;

use common::{random_checkpoint, random_positions as positions};
use gipf_core::Spot;
use gipf_model::{
    BATCH_NORM_EPSILON, Checkpoint, Evaluation, Evaluator, Features, Kernel, NativeEvaluator,
    PLAYS_LEFT_SCALE, POLICY_PLANES,
};

/// The network in plain loops: the formulas of `Architecture`, nothing folded.
struct Plain<'a>(&'a Checkpoint);

type Rows = Vec<Vec<f64>>;

impl Plain<'_> {
    fn get(&self, name: &str, at: usize) -> f64 {
        f64::from(self.0.tensors[name].data[at])
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let outputs = self.0.tensors[&format!("{name}.weight")].shape[0];
        let sum = |out: usize| {
            let weight = |i| self.get(&format!("{name}.weight"), out * input.len() + i);
            input.iter().enumerate().map(|(i, x)| weight(i) * x).sum::<f64>()
        };
        (0..outputs).map(sum).collect()
    }

    fn biased(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let bias = |out| self.get(&format!("{name}.bias"), out);
        self.linear(name, input).iter().enumerate().map(|(out, sum)| sum + bias(out)).collect()
    }

    fn conv7(&self, name: &str, rows: &Rows) -> Rows {
        let (inputs, outputs) = (rows[0].len(), self.0.tensors[name].shape[0]);
        let neighbours = |spot: Spot| {
            let near = gipf_core::Direction::ALL.map(|direction| spot.step(direction));
            std::iter::once(Some(spot)).chain(near).enumerate()
        };
        let sum = |spot: Spot, out: usize| {
            let mut sum = 0.0;
            for (tap, next) in neighbours(spot) {
                let Some(next) = next else { continue };
                for (i, x) in rows[next.index()].iter().enumerate() {
                    sum += x * self.get(name, (out * inputs + i) * 7 + tap);
                }
            }
            sum
        };
        Spot::ALL.iter().map(|spot| (0..outputs).map(|out| sum(*spot, out)).collect()).collect()
    }

    fn norm(&self, name: &str, rows: &mut Rows) {
        let part = |part: &str, c| self.get(&format!("{name}.{part}"), c);
        for row in rows {
            for (c, x) in row.iter_mut().enumerate() {
                let deviation = (part("var", c) + BATCH_NORM_EPSILON).sqrt();
                *x = (*x - part("mean", c)) / deviation * part("weight", c) + part("bias", c);
            }
        }
    }

    fn evaluate(&self, features: &Features) -> (Vec<f64>, [f64; 3], f64) {
        let planes: Rows = Spot::ALL
            .iter()
            .map(|spot| {
                features.planes.map(|set| f64::from(u8::from(set.contains(*spot)))).to_vec()
            })
            .collect();
        let globals: Vec<f64> = features.globals.iter().map(|g| f64::from(*g)).collect();
        let mut x = self.conv7("stem.conv.weight", &planes);
        add(&mut x, &self.linear("stem.globals", &globals));
        self.norm("stem.bn", &mut x);
        relu(&mut x);
        let architecture = self.0.header.architecture;
        for i in 0..architecture.blocks {
            let mut h = self.conv7(&format!("blocks.{i}.conv1.weight"), &x);
            self.norm(&format!("blocks.{i}.bn1"), &mut h);
            relu(&mut h);
            let mut y = self.conv7(&format!("blocks.{i}.conv2.weight"), &h);
            self.norm(&format!("blocks.{i}.bn2"), &mut y);
            if architecture.global_pooling {
                add(&mut y, &self.linear(&format!("blocks.{i}.pool"), &pooled(&h)));
            }
            for (y, x) in y.iter_mut().zip(&x) {
                add(std::slice::from_mut(y), x);
            }
            relu(&mut y);
            x = y;
        }
        let mut p: Rows = x.iter().map(|row| self.linear("policy.conv", row)).collect();
        self.norm("policy.bn", &mut p);
        relu(&mut p);
        let g = pooled(&p);
        add(&mut p, &self.biased("policy.pool", &g));
        relu(&mut p);
        let planes: Rows = p.iter().map(|row| self.biased("policy.planes", row)).collect();
        let mut all = Vec::new();
        for plane in 0..POLICY_PLANES {
            all.extend(planes.iter().map(|row| row[plane] as f32));
        }
        all.extend(self.biased("policy.globals", &g).iter().map(|logit| *logit as f32));
        let mut logits = Vec::new();
        features.policy.logits(&all, &mut logits);
        let mut v: Rows = x.iter().map(|row| self.linear("value.conv", row)).collect();
        self.norm("value.bn", &mut v);
        relu(&mut v);
        let mut hidden = vec![self.biased("value.hidden", &[pooled(&v), globals].concat())];
        relu(&mut hidden);
        let outcome = self.biased("value.outcome", &hidden[0]);
        let sum: f64 = outcome.iter().map(|o| o.exp()).sum();
        let left = self.biased("value.plays_left", &hidden[0])[0].exp().ln_1p();
        (
            logits.iter().map(|l| f64::from(*l)).collect(),
            [0, 1, 2].map(|i| outcome[i].exp() / sum),
            left * f64::from(PLAYS_LEFT_SCALE),
        )
    }
}

fn add(rows: &mut [Vec<f64>], addend: &[f64]) {
    for row in rows {
        row.iter_mut().zip(addend).for_each(|(x, a)| *x += a);
    }
}

fn relu(rows: &mut Rows) {
    rows.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
}

fn pooled(rows: &Rows) -> Vec<f64> {
    let channel = |c: usize| rows.iter().map(move |row| row[c]);
    let channels = 0..rows[0].len();
    let mean = channels.clone().map(|c| channel(c).sum::<f64>() / rows.len() as f64);
    let most = channels.map(|c| channel(c).fold(f64::NEG_INFINITY, f64::max));
    mean.chain(most).collect()
}

/// The largest difference of any number of an evaluation.
fn distance(native: &Evaluation, plain: &(Vec<f64>, [f64; 3], f64)) -> f64 {
    assert_eq!(native.logits.len(), plain.0.len());
    let logits = native.logits.iter().zip(&plain.0);
    let values = native.value.iter().zip(&plain.1);
    let all = logits.chain(values).map(|(a, b)| (f64::from(*a) - b).abs() / b.abs().max(1.0));
    all.fold((f64::from(native.plays_left) - plain.2).abs() / plain.2.max(1.0), f64::max)
}

fn evaluate(evaluator: &mut NativeEvaluator, batch: &[Features]) -> Vec<Evaluation> {
    let mut out = vec![Evaluation::default(); batch.len()];
    evaluator.evaluate(batch, &mut out).unwrap();
    out
}

#[test]
fn every_kernel_computes_the_formulas() {
    let batch = positions(12);
    for text in ["2x32", "1x64", "2x20", "1x48", "1x80", "1x16-nopool"] {
        let checkpoint = random_checkpoint(text.parse().unwrap(), 3);
        let plain: Vec<_> = batch.iter().map(|f| Plain(&checkpoint).evaluate(f)).collect();
        let mut tried = 0;
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            let mut evaluator = NativeEvaluator::with_kernel(&checkpoint, kernel);
            for (native, plain) in evaluate(&mut evaluator, &batch).iter().zip(&plain) {
                let distance = distance(native, plain);
                assert!(distance < 1e-4, "{text} {kernel}: {distance}");
            }
            tried += 1;
        }
        assert!(tried > 0);
    }
}

#[test]
fn one_changed_weight_is_seen() {
    let batch = positions(8);
    let checkpoint = random_checkpoint("2x32".parse().unwrap(), 3);
    let mut changed = checkpoint.tensors.clone();
    changed.get_mut("blocks.1.conv2.weight").unwrap().data[700] += 0.05;
    let changed = Checkpoint::new(checkpoint.header.clone(), changed).unwrap();
    let native = evaluate(&mut NativeEvaluator::new(&changed), &batch);
    let plain = batch.iter().map(|f| Plain(&checkpoint).evaluate(f));
    assert!(native.iter().zip(plain).any(|(native, plain)| distance(native, &plain) > 1e-4));
}

/// Bit for bit: alone, in any batch, at any place.
#[test]
fn a_result_does_not_depend_on_its_batch() {
    let batch = positions(21);
    for text in ["2x32", "1x64", "1x48", "1x16-nopool"] {
        let checkpoint = random_checkpoint(text.parse().unwrap(), 4);
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            let mut evaluator = NativeEvaluator::with_kernel(&checkpoint, kernel);
            let together = evaluate(&mut evaluator, &batch);
            for (at, alone) in together.iter().enumerate() {
                assert_eq!(&evaluate(&mut evaluator, &batch[at..=at])[0], alone, "{text} {kernel}");
            }
            let shifted = evaluate(&mut evaluator, &batch[3..]);
            assert_eq!(shifted, together[3..]);
        }
    }
}
