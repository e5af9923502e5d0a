//! Mixes of potentials drawn at random, game by game (rules, section 3).

use gipf_core::{Potential, Rules, Variant};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::random::{below, open_unit};

/// Most potentials of one kind, and of all kinds together (rules, section 3).
const MOST_OF_KIND: u8 = 6;
const MOST: u8 = 15;
/// Basic pieces of a colour with 15 potentials, the most there are.
const MOST_BASIC: u8 = 21;
/// Tries for a mix that differs from the other colour's. With two or more mixes to draw from they are all but never used up.
const TRIES: usize = 10_000;

/// From which mixes each game draws one: how many kinds, which, and how many of each.
///
/// The number of kinds and the total are drawn evenly from their ranges, the kinds evenly from all five; what the total
/// leaves beyond the least of each kind is dealt out one by one. Both colours have the same mix, or, in a share of
/// `unequal` of the games, two that differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixDraw {
    /// `basic`, `standard` or `tournament`.
    pub variant: String,
    /// Fewest and most kinds in a mix, 1 to 5.
    pub kinds: [u8; 2],
    /// Fewest and most potentials of a colour, 1 to 15.
    pub total: [u8; 2],
    /// Fewest and most potentials of each kind in a mix, 1 to 6.
    pub per_kind: [u8; 2],
    /// Share of the games in which the colours have different mixes, 0 to 1.
    pub unequal: f64,
    /// Basic pieces of each colour; absent: the variant's, and 21 in a game where a colour has 15 potentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic: Option<u8>,
    /// `neutralize` or `convert`: what a PÜNCT-potential makes of a GIPF-piece (rules, section 6).
    pub punct: String,
}

impl Default for MixDraw {
    fn default() -> MixDraw {
        MixDraw {
            variant: Variant::Standard.name().to_owned(),
            kinds: [1, 3],
            total: [4, 12],
            per_kind: [1, MOST_OF_KIND],
            unequal: 0.0,
            basic: None,
            punct: "neutralize".to_owned(),
        }
    }
}

/// What is wrong with a [`MixDraw`]; the message names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}: {wanted}")]
pub struct MixError {
    /// The field at fault.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is allowed instead.
    pub wanted: String,
}

impl MixDraw {
    /// The fields, in the order in which they are written.
    pub const KEYS: [&'static str; 7] =
        ["variant", "kinds", "total", "per_kind", "unequal", "basic", "punct"];

    /// Checks that every number of kinds of the range can be drawn and gives valid rules.
    ///
    /// # Errors
    /// Names the field: a value out of its range, or ranges that cannot be met together.
    pub fn validate(&self) -> Result<(), MixError> {
        let fail = |key, value: String, wanted: String| Err(MixError { key, value, wanted });
        let Some(variant) = self.rule_variant() else {
            let wanted = "allowed are \"basic\", \"standard\" or \"tournament\"".to_owned();
            return fail("variant", format!("{:?}", self.variant), wanted);
        };
        check_range("kinds", self.kinds, Potential::ALL.len() as u8)?;
        check_range("total", self.total, MOST)?;
        check_range("per_kind", self.per_kind, MOST_OF_KIND)?;
        if !(0.0..=1.0).contains(&self.unequal) {
            return fail("unequal", self.unequal.to_string(), "allowed are 0 to 1".to_owned());
        }
        if !["neutralize", "convert"].contains(&self.punct.as_str()) {
            let wanted = "allowed are \"neutralize\" or \"convert\"".to_owned();
            return fail("punct", format!("{:?}", self.punct), wanted);
        }
        let low = variant.default_basic();
        if let Some(basic) = self.basic.filter(|basic| !(low..=MOST_BASIC).contains(basic)) {
            let wanted = format!("{} allows {low} to {MOST_BASIC}", variant.name());
            return fail("basic", basic.to_string(), wanted);
        }
        let [least, most] = self.per_kind;
        let mut largest = 0;
        for kinds in self.kinds[0]..=self.kinds[1] {
            let [low, high] = self.totals(kinds);
            if low > high {
                let (from, to) = (kinds * least, kinds * most);
                let wanted = format!(
                    "a mix of {kinds} (from kinds) with {least} to {most} each (from per_kind) has {from} to {to}"
                );
                return fail("total", range_text(self.total), wanted);
            }
            largest = largest.max(high);
        }
        if let Some(basic) = self.basic.filter(|&basic| largest == MOST && basic < MOST_BASIC) {
            let wanted = format!("a colour with 15 potentials must have {MOST_BASIC}");
            return fail("basic", basic.to_string(), wanted);
        }
        // Five kinds in fixed numbers: the one case of a single mix.
        let single = self.kinds == [5, 5]
            && (least == most || self.total[1] == 5 * least || self.total[0] == 5 * most);
        if self.unequal > 0.0 && single {
            let wanted = "the ranges allow one mix only, so it must be 0".to_owned();
            return fail("unequal", self.unequal.to_string(), wanted);
        }
        Ok(())
    }

    /// Rules that this draws from and that together have every kind: an evaluator that serves them serves every game.
    /// They depend on nothing but the ranges. Empty if the ranges are not valid.
    pub fn representatives(&self) -> Vec<Rules> {
        let per_game = usize::from(self.kinds[1]).clamp(1, 5);
        let [low, high] = self.totals(per_game as u8);
        let total = low + high.saturating_sub(low) / 2;
        let groups = Potential::ALL.len().div_ceil(per_game);
        let mixes = (0..groups).map(|group| {
            let kinds: Vec<usize> = (0..per_game).map(|at| (group * per_game + at) % 5).collect();
            let mut mix = [0; 5];
            for (at, &kind) in kinds.iter().enumerate() {
                let rest = u8::from(at < usize::from(total) % per_game);
                mix[kind] = total / per_game as u8 + rest;
            }
            mix
        });
        mixes.filter_map(|mix| self.rules(mix, mix)).collect()
    }

    /// The rules of one game. The ranges must be valid; `standard` where they are not.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> Option<Rules> {
        let white = self.mix(rng);
        let mut black = white;
        if open_unit(rng) < self.unequal {
            for _ in 0..TRIES {
                if black != white {
                    break;
                }
                black = self.mix(rng);
            }
        }
        self.rules(white, black)
    }

    /// Whether these are the rules of a game that can be drawn.
    pub fn allows(&self, rules: &Rules) -> bool {
        let [white, black] = gipf_core::Color::ALL.map(|color| rules.mix(color));
        let drawn = |mix: [u8; 5]| {
            let kinds = mix.iter().filter(|count| **count > 0).count() as u8;
            let total: u8 = mix.iter().sum();
            let [least, most] = self.per_kind;
            (self.kinds[0]..=self.kinds[1]).contains(&kinds)
                && (self.total[0]..=self.total[1]).contains(&total)
                && mix.iter().all(|count| *count == 0 || (least..=most).contains(count))
        };
        drawn(white)
            && drawn(black)
            && (white == black || self.unequal > 0.0)
            && self.rules(white, black).as_ref() == Some(rules)
    }

    /// One colour's mix.
    fn mix(&self, rng: &mut ChaCha8Rng) -> [u8; 5] {
        let kinds = within(rng, self.kinds);
        let total = within(rng, self.totals(kinds));
        let [least, most] = self.per_kind;
        let mut mix = [0; 5];
        let mut left: Vec<usize> = (0..mix.len()).collect();
        let mut open = Vec::with_capacity(mix.len());
        for _ in 0..kinds {
            let kind = left.swap_remove(below(rng, left.len()));
            mix[kind] = least;
            open.push(kind);
        }
        for _ in kinds * least..total {
            open.retain(|&kind| mix[kind] < most);
            let Some(&kind) = open.get(below(rng, open.len())) else { break };
            mix[kind] += 1;
        }
        mix
    }

    /// Fewest and most potentials with so many kinds; the first is the larger one where there is no way.
    fn totals(&self, kinds: u8) -> [u8; 2] {
        let [least, most] = self.per_kind;
        [self.total[0].max(kinds * least), self.total[1].min(kinds * most)]
    }

    fn rules(&self, white: [u8; 5], black: [u8; 5]) -> Option<Rules> {
        let variant = self.rule_variant()?;
        let full = [white, black].iter().any(|mix| mix.iter().sum::<u8>() == MOST);
        let basic = self.basic.unwrap_or(if full { MOST_BASIC } else { variant.default_basic() });
        let mut text = format!("{}:{basic}+{}", variant.name(), mix_text(white));
        if black != white {
            text += &format!("|{}", mix_text(black));
        }
        text += &format!(";punct={}", self.punct);
        text.parse().ok()
    }

    fn rule_variant(&self) -> Option<Variant> {
        Variant::ALL.into_iter().find(|variant| variant.name() == self.variant)
    }
}

fn check_range(key: &'static str, range: [u8; 2], most: u8) -> Result<(), MixError> {
    let [low, high] = range;
    let wanted = if !(1..=most).contains(&low) || !(1..=most).contains(&high) {
        format!("allowed are 1 to {most}")
    } else if low > high {
        "the smaller number comes first".to_owned()
    } else {
        return Ok(());
    };
    Err(MixError { key, value: range_text(range), wanted })
}

fn range_text([low, high]: [u8; 2]) -> String {
    format!("[{low}, {high}]")
}

/// A number of the range, all equally likely.
fn within(rng: &mut ChaCha8Rng, [low, high]: [u8; 2]) -> u8 {
    low + below(rng, usize::from(high.saturating_sub(low)) + 1) as u8
}

/// A mix as rules strings write it; `T0` for none at all.
pub(crate) fn mix_text(mix: [u8; 5]) -> String {
    if mix == [0; 5] {
        return "T0".to_owned();
    }
    Potential::ALL
        .into_iter()
        .zip(mix)
        .filter(|&(_, count)| count > 0)
        .map(|(kind, count)| format!("{}{count}", kind.letter()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RandomKey};
    use gipf_core::Color;

    fn stream(game: u64) -> ChaCha8Rng {
        RandomKey { seed: 3, game }.stream(0, Purpose::Rules)
    }

    #[test]
    fn every_drawn_mix_is_within_its_ranges_and_rules() {
        let draws = [
            MixDraw { unequal: 0.25, ..MixDraw::default() },
            MixDraw {
                variant: "tournament".to_owned(),
                kinds: [1, 5],
                total: [4, 15],
                unequal: 0.5,
                punct: "convert".to_owned(),
                ..MixDraw::default()
            },
            MixDraw {
                variant: "basic".to_owned(),
                kinds: [2, 2],
                total: [8, 8],
                per_kind: [4, 4],
                basic: Some(18),
                ..MixDraw::default()
            },
        ];
        for draw in draws {
            draw.validate().unwrap();
            let mut unequal = 0;
            let mut kinds_seen = [0; 5];
            for game in 0..4000 {
                let rules = draw.draw(&mut stream(game)).unwrap();
                assert_eq!(rules.to_string().parse(), Ok(rules), "{rules}");
                assert_eq!(Some(rules), draw.draw(&mut stream(game)), "the stream decides alone");
                unequal += u32::from(rules.mix(Color::White) != rules.mix(Color::Black));
                for color in Color::ALL {
                    let mix = rules.mix(color);
                    let total: u8 = mix.iter().sum();
                    let kinds = mix.iter().filter(|&&count| count > 0).count() as u8;
                    assert!((draw.total[0]..=draw.total[1]).contains(&total), "{rules}");
                    assert!((draw.kinds[0]..=draw.kinds[1]).contains(&kinds), "{rules}");
                    for (seen, count) in kinds_seen.iter_mut().zip(mix) {
                        let [least, most] = draw.per_kind;
                        assert!(count == 0 || (least..=most).contains(&count), "{rules}");
                        *seen += u32::from(count > 0);
                    }
                    assert!(draw.basic.is_none_or(|basic| rules.basic(color) == basic));
                }
            }
            let share = f64::from(unequal) / 4000.0;
            assert!((share - draw.unequal).abs() < 0.03, "{share} against {}", draw.unequal);
            let (low, high) = (kinds_seen.iter().min(), kinds_seen.iter().max());
            assert!(
                low.zip(high).is_some_and(|(low, high)| high - low < 500),
                "no kind is preferred: {kinds_seen:?}"
            );
        }
    }

    #[test]
    fn representatives_have_every_kind_and_can_be_drawn() {
        for kinds in 1..=5 {
            let draw = MixDraw { kinds: [1, kinds], total: [5, 15], ..MixDraw::default() };
            let rules = draw.representatives();
            for kind in Potential::ALL {
                assert!(rules.iter().any(|r| r.mix(Color::White)[kind.index()] > 0), "{rules:?}");
            }
            for rules in rules {
                let mix = rules.mix(Color::White);
                assert!((5..=15).contains(&mix.iter().sum::<u8>()), "{rules}");
                assert_eq!(mix.iter().filter(|&&count| count > 0).count(), usize::from(kinds));
            }
        }
    }

    #[test]
    fn errors_name_the_key() {
        let base = MixDraw::default;
        for (draw, message) in [
            (
                MixDraw { variant: "ultimate".to_owned(), ..base() },
                "variant is \"ultimate\": allowed are \"basic\", \"standard\" or \"tournament\"",
            ),
            (MixDraw { kinds: [0, 3], ..base() }, "kinds is [0, 3]: allowed are 1 to 5"),
            (
                MixDraw { kinds: [3, 2], ..base() },
                "kinds is [3, 2]: the smaller number comes first",
            ),
            (MixDraw { total: [4, 16], ..base() }, "total is [4, 16]: allowed are 1 to 15"),
            (MixDraw { per_kind: [1, 7], ..base() }, "per_kind is [1, 7]: allowed are 1 to 6"),
            (
                MixDraw { kinds: [1, 2], total: [8, 12], ..base() },
                "total is [8, 12]: a mix of 1 (from kinds) with 1 to 6 each (from per_kind) has 1 to 6",
            ),
            (MixDraw { unequal: f64::NAN, ..base() }, "unequal is NaN: allowed are 0 to 1"),
            (MixDraw { basic: Some(17), ..base() }, "basic is 17: standard allows 18 to 21"),
            (
                MixDraw { kinds: [3, 3], total: [12, 15], basic: Some(18), ..base() },
                "basic is 18: a colour with 15 potentials must have 21",
            ),
            (
                MixDraw {
                    kinds: [5, 5],
                    total: [15, 15],
                    per_kind: [3, 3],
                    unequal: 0.5,
                    ..base()
                },
                "unequal is 0.5: the ranges allow one mix only, so it must be 0",
            ),
            (
                MixDraw { punct: "keep".to_owned(), ..base() },
                "punct is \"keep\": allowed are \"neutralize\" or \"convert\"",
            ),
        ] {
            assert_eq!(draw.validate().unwrap_err().to_string(), message);
        }
        base().validate().unwrap();
    }
}
