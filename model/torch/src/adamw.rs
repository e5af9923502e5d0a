//! AdamW (Loshchilov and Hutter 2019) on one flat tensor, with gradients clipped by their norm.
//!
//! tch's own optimizers cannot save their state; this one's is two tensors and a number.

use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::error::TorchError;

/// The optimizer's constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamWConfig {
    /// Decay of the mean gradient, in [0, 1).
    pub beta1: f64,
    /// Decay of the mean squared gradient, in [0, 1).
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Share of a weight that decays at each step, times the learning rate. Biases and normalisations do not decay.
    pub weight_decay: f64,
    /// The largest norm of the whole gradient; larger ones are scaled down to it. 0: no limit.
    pub clip_norm: f64,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, clip_norm: 5.0 }
    }
}

/// The optimizer's state.
pub struct AdamW {
    config: AdamWConfig,
    /// Mean gradient and mean squared gradient of each parameter.
    mean: Tensor,
    square: Tensor,
    steps: u64,
    /// The first so many parameters decay.
    decayed: i64,
}

impl AdamW {
    /// An optimizer of `parameters`, a flat tensor whose first `decayed` elements decay.
    pub fn new(config: AdamWConfig, parameters: &Tensor, decayed: i64) -> Result<Self, TorchError> {
        let zeros = || Tensor::f_zeros(&parameters.size()[..], (Kind::Float, parameters.device()));
        Ok(Self { config, mean: zeros()?, square: zeros()?, steps: 0, decayed })
    }

    /// An optimizer that goes on from a saved state: [`Self::moments`] and [`Self::steps`].
    pub fn resume(
        config: AdamWConfig,
        mean: Tensor,
        square: Tensor,
        steps: u64,
        decayed: i64,
    ) -> Self {
        Self { config, mean, square, steps, decayed }
    }

    /// The mean gradient and the mean squared gradient.
    pub fn moments(&self) -> (&Tensor, &Tensor) {
        (&self.mean, &self.square)
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes `parameters` by one step of learning rate `rate`. Returns the gradient's norm before clipping; if it is not finite,
    /// nothing is changed.
    pub fn step(
        &mut self,
        parameters: &mut Tensor,
        gradient: &Tensor,
        rate: f64,
    ) -> Result<f64, TorchError> {
        let _no_grad = tch::no_grad_guard();
        let norm = gradient.f_norm()?.f_double_value(&[])?;
        if !norm.is_finite() {
            return Ok(norm);
        }
        let AdamWConfig { beta1, beta2, epsilon, weight_decay, clip_norm } = self.config;
        let clipped = if clip_norm > 0.0 && norm > clip_norm {
            gradient.f_mul_scalar(clip_norm / norm)?
        } else {
            gradient.shallow_clone()
        };
        self.steps += 1;
        let t = self.steps as f64;
        let _ = self.mean.f_lerp_(&clipped, 1.0 - beta1)?;
        let _ = self.square.f_lerp_(&clipped.f_mul(&clipped)?, 1.0 - beta2)?;
        let mut root = self.square.f_div_scalar(1.0 - beta2.powf(t))?.f_sqrt()?;
        let update = self
            .mean
            .f_div(&root.f_add_scalar_(epsilon)?)?
            .f_mul_scalar(rate / (1.0 - beta1.powf(t)))?;
        let mut decaying = parameters.f_narrow(0, 0, self.decayed)?;
        let _ = decaying.f_mul_scalar_(1.0 - rate * weight_decay)?;
        let _ = parameters.f_sub_(&update)?;
        Ok(norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same formulas, one parameter at a time, in f64.
    fn by_hand(
        config: &AdamWConfig,
        mut p: Vec<f64>,
        gradients: &[Vec<f64>],
        decayed: usize,
        rate: f64,
    ) -> Vec<f64> {
        let (mut m, mut v) = (vec![0.0; p.len()], vec![0.0; p.len()]);
        for (t, gradient) in gradients.iter().enumerate() {
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let scale =
                if config.clip_norm > 0.0 { (config.clip_norm / norm).min(1.0) } else { 1.0 };
            for i in 0..p.len() {
                let g = gradient[i] * scale;
                m[i] = config.beta1 * m[i] + (1.0 - config.beta1) * g;
                v[i] = config.beta2 * v[i] + (1.0 - config.beta2) * g * g;
                let m_hat = m[i] / (1.0 - config.beta1.powi(t as i32 + 1));
                let v_hat = v[i] / (1.0 - config.beta2.powi(t as i32 + 1));
                if i < decayed {
                    p[i] -= rate * config.weight_decay * p[i];
                }
                p[i] -= rate * m_hat / (v_hat.sqrt() + config.epsilon);
            }
        }
        p
    }

    #[test]
    fn steps_are_those_of_the_formulas() {
        let start = vec![1.0, -2.0, 0.5, 3.0];
        let gradients =
            [vec![0.1, -4.0, 0.0, 2.0], vec![-0.3, 1.0, 1e-6, 2.0], vec![30.0, 1.0, 1e-6, -2.0]];
        for clip_norm in [0.0, 2.5] {
            let config = AdamWConfig { weight_decay: 0.1, clip_norm, ..AdamWConfig::default() };
            let expected = by_hand(&config, start.clone(), &gradients, 2, 0.05);
            let mut p = Tensor::from_slice(&start).to_kind(Kind::Float);
            let mut optimizer = AdamW::new(config, &p, 2).expect("an optimizer");
            for gradient in &gradients {
                let norm = optimizer.step(
                    &mut p,
                    &Tensor::from_slice(gradient).to_kind(Kind::Float),
                    0.05,
                );
                let expected = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                assert!((norm.expect("a step") - expected).abs() < 1e-5);
            }
            for (i, expected) in expected.into_iter().enumerate() {
                assert!(
                    (p.double_value(&[i as i64]) - expected).abs() < 1e-5,
                    "{i}: {p:?} {expected}"
                );
            }
            assert_eq!(optimizer.steps(), 3);
        }
    }

    #[test]
    fn a_gradient_that_is_not_finite_changes_nothing() {
        let mut p = Tensor::from_slice(&[1f32, 2.0]);
        let mut optimizer = AdamW::new(AdamWConfig::default(), &p, 2).expect("an optimizer");
        let norm =
            optimizer.step(&mut p, &Tensor::from_slice(&[f32::NAN, 1.0]), 0.1).expect("a norm");
        assert!(norm.is_nan());
        assert_eq!((p, optimizer.steps()), (Tensor::from_slice(&[1f32, 2.0]), 0));
    }
}
