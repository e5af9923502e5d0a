//! A small stable hash, for evaluators that make numbers up.

use gipf_core::SpotSet;

use crate::features::Features;

/// Mixes the bits of a number (the finaliser of SplitMix64, Steele et al. 2014).
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number of a position's planes and globals; the actions do not count.
pub(crate) fn of_features(features: &Features, seed: u64) -> u64 {
    let planes = features.planes.iter().fold(mix(seed), |hash, SpotSet(bits)| mix(hash ^ bits));
    features.globals.iter().fold(planes, |hash, value| mix(hash ^ u64::from(value.to_bits())))
}

/// A number of an action: its groups as sets, whatever their order.
pub(crate) fn of_action(features: &Features, action: usize, seed: u64) -> u64 {
    let groups = features.policy.groups_of(action).map(|group| {
        let terms = group
            .iter()
            .map(|&(index, weight)| mix(u64::from(index) << 32 | u64::from(weight.to_bits())));
        mix(terms.fold(0, u64::wrapping_add))
    });
    mix(seed ^ groups.fold(0, u64::wrapping_add))
}

/// A number in [0, 1) from a hash.
pub(crate) fn unit(hash: u64) -> f32 {
    (hash >> 40) as f32 / (1u64 << 24) as f32
}
