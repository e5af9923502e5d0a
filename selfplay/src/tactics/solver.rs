//! Forced wins by exhaustive search.

use gipf_core::{Color, Phase, Play, Position, Potential, Variant};

/// Entries of the table of positions, a power of two: 24 MiB.
const TABLE: usize = 1 << 20;
/// A full board has 37 stacks. While two spots are free, one play leaves a line with room to enter.
const SOME_LINE_IS_OPEN: u32 = 35;

/// The search met its limit of positions before it knew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more positions than the search may look at")]
pub struct Exhausted;

/// What is known of a position: the attacker wins within `won` plays, and not within `open`.
#[derive(Clone, Copy)]
struct Known {
    key: u64,
    /// The play that decided it: the attacker's winning one, or the other side's refutation.
    play: Play,
    won: u8,
    open: u8,
}

/// Searches for forced wins of one colour: at the attacker's decisions one play must win, at the other colour's decisions,
/// and at side games, every play must. Plays of both colours count. Nothing is left out and nothing is estimated; known
/// positions are told apart by 64 bits of hash.
pub struct Solver {
    attacker: Color,
    /// Positions looked at, and how many may be.
    looked: u64,
    most: u64,
    table: Vec<Known>,
    /// By plays left: the list of plays, and the play that decided last.
    lists: Vec<Vec<Play>>,
    killers: Vec<Play>,
}

impl Solver {
    /// The most plays that a search looks ahead.
    pub const MOST_PLAYS: u32 = 16;

    /// A solver that looks at so many positions at most.
    pub fn new(attacker: Color, most: u64) -> Solver {
        let unknown = Known { key: 0, play: Play::PASS, won: u8::MAX, open: 0 };
        let levels = Solver::MOST_PLAYS as usize + 1;
        Solver {
            attacker,
            looked: 0,
            most,
            table: vec![unknown; TABLE],
            lists: vec![Vec::new(); levels],
            killers: vec![Play::PASS; levels],
        }
    }

    /// Positions looked at so far.
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// The fewest plays within which the attacker forces a win, if `most` ([`Solver::MOST_PLAYS`] or fewer) do.
    ///
    /// # Errors
    /// The limit of positions was met first.
    pub fn shortest_win(
        &mut self,
        position: &Position,
        most: u32,
    ) -> Result<Option<u32>, Exhausted> {
        for plays in 0..=most {
            if self.wins(position, plays)? {
                return Ok(Some(plays));
            }
        }
        Ok(None)
    }

    /// Every action of the attacker's decision after which it still wins within `plays` plays from here, in the order of
    /// [`Position::actions`].
    ///
    /// # Errors
    /// The limit of positions was met first.
    pub fn winning_plays(
        &mut self,
        position: &Position,
        plays: u32,
    ) -> Result<Vec<Play>, Exhausted> {
        let mut actions = Vec::new();
        position.actions(&mut actions);
        let mut winning = Vec::new();
        for play in actions {
            if self.wins(&after(position, play), plays.saturating_sub(1))? {
                winning.push(play);
            }
        }
        Ok(winning)
    }

    /// Whether the attacker forces a win within `left` plays; more than [`Solver::MOST_PLAYS`] count as so many.
    ///
    /// # Errors
    /// The limit of positions was met first.
    pub fn wins(&mut self, position: &Position, left: u32) -> Result<bool, Exhausted> {
        if self.looked == self.most {
            return Err(Exhausted);
        }
        self.looked += 1;
        if let Some(winner) = position.winner() {
            return Ok(winner == self.attacker);
        }
        let left = left.min(Solver::MOST_PLAYS);
        if left == 0 || self.is_out_of_reach(position, left) {
            return Ok(false);
        }
        let level = left as usize;
        let key = position.hash64();
        let slot = key as usize % TABLE;
        let known = self.table[slot];
        let mut first = None;
        if known.key == key {
            if u32::from(known.won) <= left {
                return Ok(true);
            }
            if u32::from(known.open) >= left {
                return Ok(false);
            }
            first = Some(known.play);
        }
        let mut plays = std::mem::take(&mut self.lists[level]);
        position.actions(&mut plays);
        for likely in [Some(self.killers[level]), first].into_iter().flatten() {
            if let Some(at) = plays.iter().position(|&play| play == likely) {
                plays[..=at].rotate_right(1);
            }
        }
        // A side game's outcomes are nobody's choice: all of them must win.
        let attacks = position.decider() == Some(self.attacker);
        let mut decided = None;
        for &play in &plays {
            match self.wins(&after(position, play), left - 1) {
                Ok(wins) if wins == attacks => decided = Some(play),
                Ok(_) => continue,
                Err(exhausted) => {
                    self.lists[level] = plays;
                    return Err(exhausted);
                }
            }
            break;
        }
        self.lists[level] = plays;
        let wins = attacks == decided.is_some();
        self.killers[level] = decided.unwrap_or(self.killers[level]);
        self.note(slot, key, left as u8, wins, decided);
        Ok(wins)
    }

    fn note(&mut self, slot: usize, key: u64, left: u8, wins: bool, decided: Option<Play>) {
        let entry = &mut self.table[slot];
        if entry.key != key {
            *entry = Known { key, play: Play::PASS, won: u8::MAX, open: 0 };
        }
        if wins {
            entry.won = entry.won.min(left);
        } else {
            entry.open = entry.open.max(left);
        }
        entry.play = decided.unwrap_or(entry.play);
    }

    /// Whether the attacker surely cannot have won after `left` plays, seen without a search. A colour with a basic piece in
    /// its hand and room to enter can play, and each play takes one at most; GIPF-pieces leave the board in removals, which
    /// are plays of their own, or under a PÜNCT-potential.
    fn is_out_of_reach(&self, position: &Position, left: u32) -> bool {
        if position.phase() != Phase::Regular {
            return false;
        }
        let defender = self.attacker.other();
        let attacks = position.mover() == self.attacker;
        let hand = u32::from(position.hand_basic(defender));
        let rules = position.rules();
        let is_open = position.occupied().len() + left <= SOME_LINE_IS_OPEN;
        if rules.variant() == Variant::Basic {
            let plays = if attacks { left / 2 } else { left.div_ceil(2) };
            return is_open && hand > plays;
        }
        let covers = rules.mix(self.attacker)[Potential::Punct.index()] > 0;
        let unconverts = rules.punct_convert();
        left == 1 && if attacks { is_open && hand > 0 && !covers } else { !unconverts }
    }
}

fn after(position: &Position, play: Play) -> Position {
    let mut next = *position;
    next.play(play);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::Rules;

    /// The same question answered by the definition alone.
    fn plainly(position: &Position, attacker: Color, left: u32) -> bool {
        if let Some(winner) = position.winner() {
            return winner == attacker;
        }
        if left == 0 {
            return false;
        }
        let mut plays = Vec::new();
        position.actions(&mut plays);
        let mut replies =
            plays.into_iter().map(|play| plainly(&after(position, play), attacker, left - 1));
        if position.decider() == Some(attacker) {
            replies.any(|wins| wins)
        } else {
            replies.all(|wins| wins)
        }
    }

    #[test]
    fn agrees_with_the_definition_near_the_end_of_random_games() {
        use rand::SeedableRng;
        let mut found = 0;
        for text in ["basic", "standard", "tournament+P6", "standard+P6;punct=convert", "ultimate"]
        {
            let rules: Rules = text.parse().unwrap();
            for seed in 0..4 {
                let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
                let mut positions = vec![rules.start()];
                while positions.len() < 400 && !positions[positions.len() - 1].is_over() {
                    let mut next = positions[positions.len() - 1];
                    gipf_core::playout(&mut next, &mut rng, 1, &mut Vec::new());
                    positions.push(next);
                }
                for position in positions.iter().rev().take(4) {
                    for attacker in Color::ALL {
                        let mut solver = Solver::new(attacker, u64::MAX);
                        for left in 0..=3 {
                            let wins = solver.wins(position, left).unwrap();
                            assert_eq!(
                                wins,
                                plainly(position, attacker, left),
                                "{attacker:?} within {left}: {position}"
                            );
                            found += u32::from(wins && left > 1);
                        }
                    }
                }
            }
        }
        assert!(found > 30, "{found} forced wins");
    }

    #[test]
    fn the_limit_of_positions_is_kept() {
        let rules: Rules = "standard".parse().unwrap();
        let mut solver = Solver::new(Color::White, 1_000);
        assert_eq!(solver.shortest_win(&rules.start(), 9), Err(Exhausted));
        assert_eq!(solver.looked(), 1_000);
    }
}
