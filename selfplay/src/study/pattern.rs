//! Rules strings in which `?` stands for kinds of potentials.

use gipf_core::Potential;

use crate::mixes::mix_text;

/// One colour's mix: how many of each kind, in the order T Z D Y P.
pub(super) type Side = [u8; 5];

/// A rules string with `?`, opened up.
pub(super) struct Pattern<'a> {
    /// What stands before the mixes, `+` included.
    head: &'a str,
    /// What each side's mix can be; one entry where both colours have the same mix.
    sides: Vec<Vec<Side>>,
    /// What stands behind the mixes.
    options: &'a str,
}

impl<'a> Pattern<'a> {
    /// # Errors
    /// What is wrong, if the `?` stand elsewhere than for kinds or a mix cannot be read.
    pub(super) fn parse(text: &'a str) -> Result<Pattern<'a>, String> {
        let (game, options) = text.split_at(text.find(';').unwrap_or(text.len()));
        let (head, mixes) = game.split_at(game.find('+').map_or(game.len(), |at| at + 1));
        if head.contains('?') || options.contains('?') {
            return Err("\"?\" stands for the kind of a potential in a mix only".to_owned());
        }
        let sides = mixes.splitn(2, '|').map(Pattern::side).collect::<Result<_, _>>()?;
        Ok(Pattern { head, sides, options })
    }

    /// The mixes that a mix with `?` means, each once, in the order of [`assignments`]. It checks no more than the order of the
    /// kinds: what the rules do not allow, they say.
    ///
    /// # Errors
    /// The part that is no kind, no count or out of order.
    pub(super) fn side(mix: &str) -> Result<Vec<Side>, String> {
        let mut fixed = [None; 5];
        let mut open = Vec::new();
        let mut next_kind = 0;
        let mut letters = mix.chars().peekable();
        while let Some(letter) = letters.next() {
            let mut digits = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            let count: u8 = digits
                .parse()
                .ok()
                .filter(|count: &u8| *count <= 6 && digits.len() == 1)
                .ok_or_else(|| {
                    format!("mix \"{mix}\": count \"{digits}\" of {letter} is not 0 to 6")
                })?;
            if letter == '?' {
                if count == 0 {
                    return Err(format!("mix \"{mix}\": count \"0\" of ? is not 1 to 6"));
                }
                open.push(count);
                continue;
            }
            let kind = Potential::ALL.into_iter().find(|kind| kind.letter() == letter);
            let kind = kind
                .ok_or_else(|| format!("mix \"{mix}\": \"{letter}\" is no kind of T Z D Y P"))?
                .index();
            if kind < next_kind {
                return Err(format!("mix \"{mix}\": kinds go in the order T Z D Y P, each once"));
            }
            next_kind = kind + 1;
            fixed[kind] = Some(count);
        }
        if mix.is_empty() {
            return Err("a mix is empty".to_owned());
        }
        let mixes = assignments(fixed, &open);
        if mixes.is_empty() {
            Err(format!("mix \"{mix}\" has more than five kinds"))
        } else {
            Ok(mixes)
        }
    }

    /// The rules strings, White's mixes before Black's.
    pub(super) fn rules(&self) -> impl Iterator<Item = String> + '_ {
        let (white, black) = (self.sides.first(), self.sides.get(1));
        white.into_iter().flatten().flat_map(move |&white| {
            let black = black.map_or_else(|| vec![white], Clone::clone);
            black.into_iter().map(move |black| {
                let (white, black) = (mix_text(white), mix_text(black));
                format!("{}{white}|{black}{}", self.head, self.options)
            })
        })
    }
}

/// Every mix with the fixed counts and the open counts dealt out to different other kinds, each once. The first open count
/// goes through the kinds in their order slowest.
pub(super) fn assignments(fixed: [Option<u8>; 5], open: &[u8]) -> Vec<Side> {
    let Some((&count, rest)) = open.split_first() else {
        return vec![fixed.map(Option::unwrap_or_default)];
    };
    let mut mixes = Vec::new();
    for kind in (0..fixed.len()).filter(|&kind| fixed[kind].is_none()) {
        let mut taken = fixed;
        taken[kind] = Some(count);
        for mix in assignments(taken, rest) {
            if !mixes.contains(&mix) {
                mixes.push(mix);
            }
        }
    }
    mixes
}
