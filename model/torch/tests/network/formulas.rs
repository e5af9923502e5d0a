//! The network by the book, slowly.

use gipf_core::{Direction, Spot};
use gipf_model::{Checkpoint, Evaluation, Features, POLICY_PLANES, POLICY_SIZE};

type Planes = Vec<Vec<f64>>; // [spot][channel]

struct Net<'a>(&'a Checkpoint);

impl Net<'_> {
    fn values(&self, name: &str) -> Vec<f64> {
        self.0.tensors[name].data.iter().map(|&v| f64::from(v)).collect()
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let weight = self.values(&format!("{name}.weight"));
        let bias = self.0.tensors.get(&format!("{name}.bias"));
        let rows = weight.chunks_exact(x.len()).enumerate();
        rows.map(|(row, weights)| {
            let bias = bias.map_or(0.0, |bias| f64::from(bias.data[row]));
            bias + weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
        })
        .collect()
    }

    fn conv7(&self, name: &str, x: &Planes) -> Planes {
        let weight = self.values(&format!("{name}.weight"));
        let inputs = x[0].len();
        let one = |spot: Spot| {
            let mut around = vec![Some(spot)];
            around.extend(Direction::ALL.map(|direction| spot.step(direction)));
            weight
                .chunks_exact(inputs * 7)
                .map(|taps| {
                    let mut sum = 0.0;
                    for (tap, at) in
                        around.iter().enumerate().filter_map(|(tap, at)| at.map(|at| (tap, at)))
                    {
                        sum +=
                            (0..inputs).map(|i| taps[i * 7 + tap] * x[at.index()][i]).sum::<f64>();
                    }
                    sum
                })
                .collect()
        };
        Spot::ALL.map(one).to_vec()
    }

    fn norm(&self, name: &str, x: &mut Planes) {
        let part = |part: &str| self.values(&format!("{name}.{part}"));
        let (weight, bias, mean, var) = (part("weight"), part("bias"), part("mean"), part("var"));
        for row in x.iter_mut() {
            for (c, v) in row.iter_mut().enumerate() {
                *v = (*v - mean[c]) / (var[c] + 1e-5).sqrt() * weight[c] + bias[c];
            }
        }
    }
}

fn relu(x: &mut Planes) {
    x.iter_mut().flatten().for_each(|v| *v = v.max(0.0));
}

fn add(x: &mut Planes, bias: &[f64]) {
    x.iter_mut().for_each(|row| row.iter_mut().zip(bias).for_each(|(v, b)| *v += b));
}

fn pool(x: &Planes) -> Vec<f64> {
    let column = |c: usize| x.iter().map(move |row| row[c]);
    let channels = 0..x[0].len();
    let mut pooled: Vec<f64> = channels.clone().map(|c| column(c).sum::<f64>() / 37.0).collect();
    pooled.extend(channels.map(|c| column(c).fold(f64::NEG_INFINITY, f64::max)));
    pooled
}

pub(super) fn evaluate(checkpoint: &Checkpoint, features: &Features) -> Evaluation {
    let net = Net(checkpoint);
    let planes: Planes = Spot::ALL
        .map(|spot| {
            features.planes.iter().map(|set| f64::from(u8::from(set.contains(spot)))).collect()
        })
        .to_vec();
    let globals: Vec<f64> = features.globals.iter().map(|&g| f64::from(g)).collect();
    let mut x = net.conv7("stem.conv", &planes);
    add(&mut x, &net.linear("stem.globals", &globals));
    net.norm("stem.bn", &mut x);
    relu(&mut x);
    for block in 0..checkpoint.header.architecture.blocks {
        let name = |part: &str| format!("blocks.{block}.{part}");
        let mut h = net.conv7(&name("conv1"), &x);
        net.norm(&name("bn1"), &mut h);
        relu(&mut h);
        let mut y = net.conv7(&name("conv2"), &h);
        net.norm(&name("bn2"), &mut y);
        add(&mut y, &net.linear(&name("pool"), &pool(&h)));
        x.iter_mut().zip(&y).for_each(|(x, y)| x.iter_mut().zip(y).for_each(|(x, y)| *x += y));
        relu(&mut x);
    }
    let each =
        |name: &str, x: &Planes| -> Planes { x.iter().map(|row| net.linear(name, row)).collect() };
    let mut p = each("policy.conv", &x);
    net.norm("policy.bn", &mut p);
    relu(&mut p);
    let g = pool(&p);
    add(&mut p, &net.linear("policy.pool", &g));
    relu(&mut p);
    let planes = each("policy.planes", &p);
    let mut logits = vec![0.0; POLICY_SIZE];
    for (spot, row) in planes.iter().enumerate() {
        row.iter().enumerate().for_each(|(plane, &v)| logits[plane * 37 + spot] = v as f32);
    }
    let global = net.linear("policy.globals", &g);
    logits[POLICY_PLANES * 37..].iter_mut().zip(global).for_each(|(logit, v)| *logit = v as f32);
    let mut v = each("value.conv", &x);
    net.norm("value.bn", &mut v);
    relu(&mut v);
    let mut v = pool(&v);
    v.extend(globals);
    let h: Vec<f64> = net.linear("value.hidden", &v).into_iter().map(|v| v.max(0.0)).collect();
    let outcome: Vec<f64> = net.linear("value.outcome", &h).into_iter().map(f64::exp).collect();
    let sum: f64 = outcome.iter().sum();
    let mut evaluation = Evaluation {
        logits: Vec::new(),
        value: [0, 1, 2].map(|k| (outcome[k] / sum) as f32),
        plays_left: (net.linear("value.plays_left", &h)[0].exp().ln_1p() * 32.0) as f32,
    };
    features.policy.logits(&logits, &mut evaluation.logits);
    evaluation
}
