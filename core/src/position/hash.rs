//! A hash of the whole state that is the same on every machine and in every build.

use super::{Phase, Position};

/// A multiply-and-fold mixer; every word reaches all bits of the result.
struct Hash64(u64);

impl Hash64 {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            * 0xd6e8_feb8_6659_fd93_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(32);
    }
}

impl Position {
    /// A stable 64-bit hash of the whole state, rules included.
    pub fn hash64(&self) -> u64 {
        let mut hash = Hash64(0x243f_6a88_85a3_08d3);
        for word in [self.owned[0].0, self.owned[1].0, self.gipf.0, self.changed.0] {
            hash.mix(word);
        }
        for spot in self.complex {
            hash.mix(u64::from(self.code(spot).0) << 8 | spot.index() as u64);
        }
        hash.mix(u64::from(self.closed[0]) << 32 | u64::from(self.closed[1]));
        let hand = |color: usize| {
            let kinds = self.potentials[color].iter().fold(0, |all, n| all << 4 | u64::from(*n));
            kinds << 16 | u64::from(self.basics[color]) << 8 | u64::from(self.used[color])
        };
        hash.mix(hand(0));
        hash.mix(hand(1));
        hash.mix(
            self.phase_code() << 24
                | u64::from(self.mover as u8) << 20
                | (self.stages[0] as u64) << 16
                | (self.stages[1] as u64) << 12
                | self.e5.map_or(0, |color| 1 + color as u64) << 8
                | self.announced_at as u64,
        );
        if self.announced().is_some() {
            hash.mix(self.announced.to_bits());
        }
        self.mix_rules(&mut hash);
        hash.0
    }

    pub(super) fn phase_code(&self) -> u64 {
        match self.phase {
            Phase::ExtraOwed => 0,
            Phase::Regular => 1,
            Phase::ExtraEarned => 2,
            Phase::Removal(color) => 3 + color as u64,
            Phase::Challenge => 5,
            Phase::SideGame => 6,
            Phase::Won(color) => 7 + color as u64,
        }
    }

    fn mix_rules(&self, hash: &mut Hash64) {
        let rules = &self.rules;
        let mix = |color: usize| rules.mix[color].iter().fold(0, |all, n| all << 4 | u64::from(*n));
        hash.mix(
            mix(0) << 40
                | mix(1) << 20
                | u64::from(rules.basic[0] - 15) << 12
                | u64::from(rules.basic[1] - 15) << 8
                | u64::from(rules.punct_convert) << 4
                | rules.variant as u64,
        );
        if let Some(challenge) = rules.challenge() {
            hash.mix(
                u64::from(challenge.limit) << 16
                    | u64::from(challenge.kinds) << 8
                    | challenge.side_game as u64,
            );
            let [win, tie, _] = challenge.chance;
            hash.mix(u64::from(win) << 32 | u64::from(tie));
        }
    }
}
