//! Random streams that depend on nothing but what they are for.
//!
//! Every random choice of a game is drawn from a ChaCha8 stream whose key spells out the run's seed, the game's sequence
//! number, the ply and the purpose. So a game's course does not depend on which worker plays it, on the other games of
//! its batch, or on how many numbers another purpose has drawn.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream is drawn for. The numbers are part of every recorded game's course: never renumber them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Which rules string a game is played by.
    Rules = 1,
    /// How many random plays open a game.
    OpeningLength = 2,
    /// A random play of the opening.
    OpeningPlay = 3,
    /// Whether a decision is searched fully or fast.
    Budget = 4,
    /// Gumbel or Dirichlet noise at the root of a search.
    Noise = 5,
    /// A play sampled from the improved policy.
    Sample = 6,
    /// The outcome of a side game.
    Outcome = 7,
    /// The choice of a player that plays at random, or a tie between its best plays.
    Player = 8,
    /// One more try at a match's opening; the ply counts the tries.
    MatchOpening = 9,
}

/// The part of a stream's key that a whole game shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RandomKey {
    /// The run's seed.
    pub seed: u64,
    /// The game's sequence number within the run.
    pub game: u64,
}

impl RandomKey {
    /// The stream for one purpose at one ply. Calling it again gives the same numbers again.
    pub fn stream(&self, ply: u32, purpose: Purpose) -> ChaCha8Rng {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&self.game.to_le_bytes());
        key[16..20].copy_from_slice(&ply.to_le_bytes());
        key[20..24].copy_from_slice(&(purpose as u32).to_le_bytes());
        key[24..].copy_from_slice(b"gipf-rnd");
        ChaCha8Rng::from_seed(key)
    }
}

/// A number in the open interval (0, 1), from 32 random bits.
pub(crate) fn open_unit(rng: &mut ChaCha8Rng) -> f64 {
    (f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0
}

/// A number below `count`, without bias worth mentioning (64 random bits scaled). `count` must not be 0.
pub(crate) fn below(rng: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize
}

/// A standard Gumbel number, `-ln(-ln(u))`.
pub(crate) fn gumbel(rng: &mut ChaCha8Rng) -> f32 {
    (-(-open_unit(rng).ln()).ln()) as f32
}

/// An index drawn in proportion to the weights, which must be finite and not negative; the last positive one where
/// rounding leaves a rest; 0 where all are zero.
pub(crate) fn weighted(rng: &mut ChaCha8Rng, weights: impl Iterator<Item = f64> + Clone) -> usize {
    let total: f64 = weights.clone().sum();
    let mut rest = open_unit(rng) * total;
    let mut last = 0;
    for (index, weight) in weights.enumerate() {
        if weight > 0.0 {
            last = index;
            if rest < weight {
                return index;
            }
            rest -= weight;
        }
    }
    last
}

/// Numbers of a symmetric Dirichlet distribution, one per place of `out`; they sum to 1.
pub(crate) fn dirichlet(rng: &mut ChaCha8Rng, alpha: f64, out: &mut [f32]) {
    let mut total = 0.0;
    for place in out.iter_mut() {
        let draw = gamma(rng, alpha);
        *place = draw as f32;
        total += draw;
    }
    let even = 1.0 / out.len().max(1) as f32;
    for place in out {
        *place = if total > 0.0 { (f64::from(*place) / total) as f32 } else { even };
    }
}

/// A gamma number of scale 1 (Marsaglia and Tsang 2000, with their boost for shapes below 1).
fn gamma(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = open_unit(rng).powf(1.0 / shape);
        return gamma(rng, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && open_unit(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * open_unit(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * open_unit(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_every_part_of_its_key() {
        let first =
            |seed, game, ply, purpose| RandomKey { seed, game }.stream(ply, purpose).next_u64();
        let base = first(1, 2, 3, Purpose::Noise);
        assert_eq!(base, first(1, 2, 3, Purpose::Noise));
        for other in [
            first(2, 2, 3, Purpose::Noise),
            first(1, 3, 3, Purpose::Noise),
            first(1, 2, 4, Purpose::Noise),
            first(1, 2, 3, Purpose::Sample),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn draws_have_the_means_of_their_distributions() {
        let mut rng = RandomKey { seed: 5, game: 0 }.stream(0, Purpose::Noise);
        let n = 40_000;
        // Euler's constant; the standard error is about 0.0064.
        let mean = (0..n).map(|_| f64::from(gumbel(&mut rng))).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5772).abs() < 0.03, "gumbel mean {mean}");
        let mean = (0..n).map(|_| gamma(&mut rng, 0.3)).sum::<f64>() / f64::from(n);
        assert!((mean - 0.3).abs() < 0.015, "gamma mean {mean}");
        let hits = (0..n).filter(|_| weighted(&mut rng, [1.0, 0.0, 3.0].into_iter()) == 2).count();
        assert!((hits as f64 / f64::from(n) - 0.75).abs() < 0.015);
        let mut shares = [0.0; 7];
        dirichlet(&mut rng, 0.3, &mut shares);
        assert!(
            (shares.iter().sum::<f32>() - 1.0).abs() < 1e-5
                && shares.iter().all(|&share| share >= 0.0)
        );
    }
}
