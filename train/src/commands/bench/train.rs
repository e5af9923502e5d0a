//! The learner's speed, beside that of the same network as a program on tch would plainly write it.

use std::time::{Duration, Instant};

use gipf_core::{Rules, Spot};
use gipf_model::{
    Architecture, Features, GLOBALS, PLANE_SPOTS, PLANES, PLAYS_LEFT_SCALE, POLICY_GLOBALS,
    POLICY_PLANES, POLICY_SIZE,
};
use gipf_model_torch::{
    AuxiliaryTargets, Device, Learner, LearnerConfig, TrainBatch, TrainSample, Trunk, device_name,
    set_threads,
};
use serde_json::{Value, json};
use tch::nn::{self, Module, ModuleT, OptimizerConfig};
use tch::{Kind, Tensor};

use super::{Args, checkpoint, features};
use crate::cpu;

/// Side of the grid that the plain network's boards lie on.
const SIDE: i64 = 7;

/// Training steps on one thread, packing the batch included, and in turns with them the rival's. On the CPU rates are those
/// of processor time.
pub(super) fn training(
    args: &Args,
    rules: &Rules,
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let checkpoint = checkpoint(args, rules)?;
    let architecture = checkpoint.header.architecture;
    let config = LearnerConfig { threads: 1, ..LearnerConfig::default() };
    let mut learner = Learner::from_checkpoint(&checkpoint, config, device)?;
    // On the CPU the same learner with its trunk in libtorch; elsewhere there is no other.
    let config = LearnerConfig { trunk: Trunk::Torch, ..config };
    let mut torch = match device {
        Device::Cpu => Some(Learner::from_checkpoint(&checkpoint, config, device)?),
        _ => None,
    };
    let sample = |(features, actions): (Features, usize)| TrainSample {
        features,
        policy: vec![1.0 / actions as f32; actions],
        policy_weight: 1.0,
        value: [1.0, 0.0, 0.0],
        value_weight: 1.0,
        plays_left: 30.0,
        plays_left_weight: 1.0,
        auxiliary: AuxiliaryTargets::default(),
    };
    let samples: Vec<TrainSample> =
        features(rules, args.batch as usize).into_iter().map(sample).collect();
    let mut rival = Plain::new(&architecture, &samples, device)?;
    let (mut ours, mut theirs, mut packing, mut in_torch) = (0.0, 0.0, 0.0, 0.0);
    let (mut steps, started) = (0_u64, Instant::now());
    while steps <= 1 || started.elapsed() < time {
        let pack = seconds(device, || {
            TrainBatch::pack(&samples)?;
            Ok(())
        })?;
        let own = seconds(device, || {
            learner.train_step(&TrainBatch::pack(&samples)?, 1e-4)?;
            Ok(())
        })?;
        let with_torch = match &mut torch {
            Some(torch) => seconds(device, || {
                torch.train_step(&TrainBatch::pack(&samples)?, 1e-4)?;
                Ok(())
            })?,
            None => own,
        };
        let other = seconds(device, || rival.step(device))?;
        // The first of each is warming up.
        if steps > 0 {
            (ours, theirs, packing) = (ours + own, theirs + other, packing + pack);
            in_torch += with_torch;
        }
        steps += 1;
    }
    let trained = (steps - 1) as f64 * samples.len() as f64;
    Ok(json!({
        "network": format!("{architecture} on {}", device_name(device)),
        "rules": rules.to_string(),
        "batch": args.batch,
        "samples_per_second": trained / ours,
        "libtorch_trunk_samples_per_second": trained / in_torch,
        "ratio_to_libtorch_trunk": in_torch / ours,
        "plain_tch_samples_per_second": trained / theirs,
        "ratio_to_plain_tch": theirs / ours,
        "packing_share_percent": 100.0 * packing / ours,
    }))
}

/// What `work` took: processor time on the CPU (libtorch has one thread here: this one), else the clock's.
fn seconds(device: Device, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let (started, processor) = (Instant::now(), cpu::thread_seconds());
    work()?;
    Ok(match device {
        Device::Cpu => cpu::thread_seconds() - processor,
        _ => started.elapsed().as_secs_f64(),
    })
}

/// The rival: 3x3 convolutions over boards on a square grid, `nn` layers, libtorch's own Adam; one dense policy. Its batch
/// lies ready on the device.
struct Plain {
    store: nn::VarStore,
    optimizer: nn::Optimizer,
    stem: nn::Conv2D,
    stem_norm: nn::BatchNorm,
    stem_globals: nn::Linear,
    blocks: Vec<PlainBlock>,
    policy: nn::Conv2D,
    policy_norm: nn::BatchNorm,
    policy_pool: nn::Linear,
    policy_planes: nn::Conv2D,
    policy_globals: nn::Linear,
    value: nn::Conv2D,
    value_norm: nn::BatchNorm,
    value_hidden: nn::Linear,
    value_out: nn::Linear,
    planes: Tensor,
    globals: Tensor,
    policies: Tensor,
}

struct PlainBlock {
    first: nn::Conv2D,
    first_norm: nn::BatchNorm,
    second: nn::Conv2D,
    second_norm: nn::BatchNorm,
    pool: nn::Linear,
}

impl Plain {
    fn new(
        architecture: &Architecture,
        samples: &[TrainSample],
        device: Device,
    ) -> anyhow::Result<Plain> {
        let store = nn::VarStore::new(device);
        let root = store.root();
        let (channels, planes) = (architecture.channels as i64, PLANES as i64);
        let plain = nn::ConvConfig { bias: false, ..Default::default() };
        let board = nn::ConvConfig { padding: 1, ..plain };
        let conv3 = |path: nn::Path<'_>, from| nn::conv2d(path, from, channels, 3, board);
        let norm = |path: nn::Path<'_>| nn::batch_norm2d(path, channels, Default::default());
        let linear = |name: &str, from, to| nn::linear(&root / name, from, to, Default::default());
        let block = |number: usize| {
            let path = &root / format!("block{number}");
            PlainBlock {
                first: conv3(&path / "first", channels),
                first_norm: norm(&path / "first_norm"),
                second: conv3(&path / "second", channels),
                second_norm: norm(&path / "second_norm"),
                pool: nn::linear(&path / "pool", 2 * channels, channels, Default::default()),
            }
        };
        let globals = GLOBALS as i64;
        let (value, hidden) =
            (architecture.value_channels as i64, architecture.value_hidden as i64);
        let planes_out = POLICY_PLANES as i64;
        let (grids, inputs, policies) = tensors(samples)?;
        Ok(Plain {
            stem: conv3(&root / "stem", planes),
            stem_norm: norm(&root / "stem_norm"),
            stem_globals: linear("stem_globals", globals, channels),
            blocks: (0..architecture.blocks).map(block).collect(),
            policy: nn::conv2d(&root / "policy", channels, channels, 1, plain),
            policy_norm: norm(&root / "policy_norm"),
            policy_pool: linear("policy_pool", 2 * channels, channels),
            policy_planes: nn::conv2d(
                &root / "policy_planes",
                channels,
                planes_out,
                1,
                Default::default(),
            ),
            policy_globals: linear("policy_globals", 2 * channels, POLICY_GLOBALS as i64),
            value: nn::conv2d(&root / "value", channels, value, 1, plain),
            value_norm: nn::batch_norm2d(&root / "value_norm", value, Default::default()),
            value_hidden: linear("value_hidden", 2 * value + globals, hidden),
            value_out: linear("value_out", hidden, 4),
            optimizer: nn::Adam::default().build(&store, 1e-4)?,
            planes: grids.f_to(device)?,
            globals: inputs.f_to(device)?,
            policies: policies.f_to(device)?,
            store,
        })
    }

    fn step(&mut self, device: Device) -> anyhow::Result<()> {
        set_threads(1);
        let column = |x: Tensor| x.unsqueeze(-1).unsqueeze(-1);
        let x = self.stem.forward(&self.planes) + column(self.stem_globals.forward(&self.globals));
        let mut x = self.stem_norm.forward_t(&x, true).relu();
        for block in &self.blocks {
            let h = block.first_norm.forward_t(&block.first.forward(&x), true).relu();
            let y = block.second_norm.forward_t(&block.second.forward(&h), true);
            x = (y + column(block.pool.forward(&pooled(&h))) + x).relu();
        }
        let p = self.policy_norm.forward_t(&self.policy.forward(&x), true).relu();
        let g = pooled(&p);
        let p = (p + column(self.policy_pool.forward(&g))).relu();
        let logits = Tensor::cat(
            &[self.policy_planes.forward(&p).flatten(1, 3), self.policy_globals.forward(&g)],
            1,
        );
        let v = pooled(&self.value_norm.forward_t(&self.value.forward(&x), true).relu());
        let v = self.value_hidden.forward(&Tensor::cat(&[&v, &self.globals], 1)).relu();
        let out = self.value_out.forward(&v);
        let policy = -(&self.policies * logits.log_softmax(-1, Kind::Float)).sum(Kind::Float);
        let won = -out.narrow(1, 0, 3).log_softmax(-1, Kind::Float).select(1, 0).sum(Kind::Float);
        let left = 30.0 / f64::from(PLAYS_LEFT_SCALE);
        let left = (out.select(1, 3).softplus() - left).square().sum(Kind::Float);
        let loss = (policy + won + left) / self.planes.size()[0] as f64;
        self.optimizer.backward_step_clip_norm(&loss, 5.0);
        if device != Device::Cpu {
            // The learner reads its losses: so does the rival.
            loss.f_double_value(&[])?;
        }
        debug_assert_eq!(self.store.device(), device);
        Ok(())
    }
}

/// Mean and maximum over the board.
fn pooled(x: &Tensor) -> Tensor {
    let flat = x.flatten(2, 3);
    Tensor::cat(
        &[
            flat.mean_dim([2i64].as_slice(), false, Kind::Float),
            flat.amax([2i64].as_slice(), false),
        ],
        1,
    )
}

/// Planes `[b, PLANES, 7, 7]`, globals `[b, GLOBALS]`, and policies over all logits of the grid.
fn tensors(samples: &[TrainSample]) -> anyhow::Result<(Tensor, Tensor, Tensor)> {
    let (count, cells) = (samples.len(), (SIDE * SIDE) as usize);
    let mut grids = vec![0f32; count * PLANES * cells];
    let mut policies = vec![0f32; count * (POLICY_PLANES * cells + POLICY_GLOBALS)];
    let cell = |spot: Spot| spot.y() as usize * SIDE as usize + spot.x() as usize;
    for (number, sample) in samples.iter().enumerate() {
        for (plane, spots) in sample.features.planes.iter().enumerate() {
            for spot in spots.iter() {
                grids[(number * PLANES + plane) * cells + cell(spot)] = 1.0;
            }
        }
        let row = &mut policies[number * (POLICY_PLANES * cells + POLICY_GLOBALS)..];
        for (action, share) in sample.policy.iter().enumerate() {
            let Some(&(index, _)) =
                sample.features.policy.groups_of(action).next().and_then(|group| group.first())
            else {
                continue;
            };
            let index = usize::from(index);
            let at = if index < POLICY_SIZE - POLICY_GLOBALS {
                index / PLANE_SPOTS * cells + cell(Spot::ALL[index % PLANE_SPOTS])
            } else {
                POLICY_PLANES * cells + index - (POLICY_SIZE - POLICY_GLOBALS)
            };
            row[at] += share;
        }
    }
    let globals: Vec<f32> = samples.iter().flat_map(|sample| sample.features.globals).collect();
    let size = count as i64;
    Ok((
        Tensor::f_from_slice(&grids)?.f_reshape([size, PLANES as i64, SIDE, SIDE])?,
        Tensor::f_from_slice(&globals)?.f_reshape([size, GLOBALS as i64])?,
        Tensor::f_from_slice(&policies)?.f_reshape([size, -1])?,
    ))
}
