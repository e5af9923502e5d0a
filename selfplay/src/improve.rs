//! The improved policy of Danihelka et al. 2022 ("Policy improvement by planning with Gumbel"): prior logits plus the
//! completed Q-values, weighted.
//!
//! Q-values here are the decider's, in [0, 1]: a loss is 0, an unfinished game 1/2, a win 1. They are not rescaled by
//! the smallest and largest among the siblings, as the paper's board games do not: the range is known.

use crate::config::GumbelConfig;

/// What a node knows of one of its plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Child {
    /// The network's probability, above 0.
    pub(crate) prior: f32,
    /// Visits; unvisited plays have no Q of their own.
    pub(crate) visits: u32,
    /// The decider's Q in [0, 1]; not read at 0 visits.
    pub(crate) q: f32,
    /// Proven lost for the decider: out of consideration.
    pub(crate) lost: bool,
}

/// The weight of the completed Q against the logits: `(c_visit + max visits) * c_scale`.
pub(crate) fn q_weight(config: &GumbelConfig, max_visits: u32) -> f32 {
    (config.c_visit + max_visits as f32) * config.c_scale
}

/// The value that stands in for the Q of unvisited plays (paper, appendix D): the network's own value, mixed with the
/// visited plays' Q weighted by their priors. `raw` is the decider's, in [0, 1].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed {
    visits: f32,
    prior: f32,
    prior_q: f32,
    /// The largest visit count seen.
    pub(crate) max_visits: u32,
}

impl Mixed {
    /// Takes one visited play into account.
    pub(crate) fn add(&mut self, prior: f32, visits: u32, q: f32) {
        self.visits += visits as f32;
        self.prior += prior;
        self.prior_q += prior * q;
        self.max_visits = self.max_visits.max(visits);
    }

    /// `(raw + ΣN · Σπq / Σπ) / (1 + ΣN)`, the sums over the visited plays.
    pub(crate) fn value(&self, raw: f32) -> f32 {
        if self.prior <= 0.0 {
            return raw;
        }
        (raw + self.visits * (self.prior_q / self.prior)) / (1.0 + self.visits)
    }

    /// The sum of all visits.
    pub(crate) fn visits(&self) -> f32 {
        self.visits
    }

    /// The visited plays' share of the prior.
    pub(crate) fn prior(&self) -> f32 {
        self.prior
    }
}

/// Fills `completed` with the completed Q of every child and returns the weight that they get against the logits.
/// A lost play's is 0.
pub(crate) fn complete_q(
    config: &GumbelConfig,
    raw: f32,
    children: &[Child],
    completed: &mut Vec<f32>,
) -> f32 {
    let mut mixed = Mixed::default();
    for child in children.iter().filter(|child| child.visits > 0 && !child.lost) {
        mixed.add(child.prior, child.visits, child.q);
    }
    let unvisited = mixed.value(raw);
    completed.clear();
    completed.extend(children.iter().map(|child| match child {
        Child { lost: true, .. } => 0.0,
        Child { visits: 0, .. } => unvisited,
        Child { q, .. } => *q,
    }));
    q_weight(config, mixed.max_visits)
}

/// Fills `policy` with `softmax(ln prior + weight · completed)`, lost plays at 0 unless every play is lost. The numbers
/// sum to 1.
pub(crate) fn improved_policy(
    weight: f32,
    children: &[Child],
    completed: &[f32],
    policy: &mut Vec<f32>,
) {
    let all_lost = children.iter().all(|child| child.lost);
    let counts = |child: &Child| all_lost || !child.lost;
    let logit = |child: &Child, q: f32| child.prior.ln() + weight * q;
    let top = children
        .iter()
        .zip(completed)
        .filter(|(child, _)| counts(child))
        .map(|(child, &q)| logit(child, q))
        .fold(f32::NEG_INFINITY, f32::max);
    policy.clear();
    policy.extend(
        children
            .iter()
            .zip(completed)
            .map(|(child, &q)| if counts(child) { (logit(child, q) - top).exp() } else { 0.0 }),
    );
    let total: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|share| *share /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Golden {
        name: String,
        c_visit: f32,
        c_scale: f32,
        raw: f32,
        priors: Vec<f32>,
        visits: Vec<u32>,
        q: Vec<f32>,
        mixed: f32,
        weight: f32,
        policy: Vec<f32>,
    }

    #[test]
    fn equals_the_hand_computed_cases() {
        let text = include_str!("../tests/data/improved_policy.json");
        let cases: Vec<Golden> = serde_json::from_str(text).unwrap();
        assert!(cases.len() >= 4);
        for case in cases {
            let children: Vec<Child> = (0..case.priors.len())
                .map(|i| Child {
                    prior: case.priors[i],
                    visits: case.visits[i],
                    q: case.q[i],
                    lost: false,
                })
                .collect();
            let config = GumbelConfig {
                c_visit: case.c_visit,
                c_scale: case.c_scale,
                ..GumbelConfig::default()
            };
            let (mut completed, mut policy) = (Vec::new(), Vec::new());
            let weight = complete_q(&config, case.raw, &children, &mut completed);
            improved_policy(weight, &children, &completed, &mut policy);
            assert!((weight - case.weight).abs() < 1e-5, "{}: weight {weight}", case.name);
            for i in 0..children.len() {
                if case.visits[i] == 0 {
                    assert!(
                        (completed[i] - case.mixed).abs() < 1e-6,
                        "{}: mixed {}",
                        case.name,
                        completed[i]
                    );
                }
                let (got, want) = (policy[i], case.policy[i]);
                assert!(
                    (got - want).abs() < 2e-5,
                    "{}: policy {policy:?}, not {:?}",
                    case.name,
                    case.policy
                );
            }
        }
    }

    #[test]
    fn lost_plays_have_no_share_and_do_not_count() {
        let child = |prior, visits, q, lost| Child { prior, visits, q, lost };
        let children =
            [child(0.9, 5, 0.0, true), child(0.05, 1, 0.5, false), child(0.05, 0, 0.0, false)];
        let config = GumbelConfig::default();
        let (mut completed, mut policy) = (Vec::new(), Vec::new());
        let weight = complete_q(&config, 0.5, &children, &mut completed);
        improved_policy(weight, &children, &completed, &mut policy);
        assert_eq!(completed, [0.0, 0.5, 0.5]);
        assert_eq!(policy[0], 0.0);
        assert!((policy[1] - 0.5).abs() < 1e-6 && (policy[2] - 0.5).abs() < 1e-6);
    }
}
