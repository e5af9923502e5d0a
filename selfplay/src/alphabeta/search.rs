//! The search of one decision: principal variation search on values read by each position's decider.

use gipf_core::{Color, Phase, Play, Position};

use super::effort::Effort;
use super::evaluation::evaluation;
use super::order::{History, pick, removal_score};
use super::rows::RowFinder;
use super::table::{Bound, Table};
use super::value::{INFINITE, LOST, WIN, from_table, mean, own, side, to_table};

/// Plays below the root after which a position is taken as it stands; longer lines come of forced plays only.
pub(super) const MOST_PLIES: usize = 128;

/// Scores of plays that are tried before all others: the table's, and those after which rows are removed.
const FROM_TABLE: i32 = i32::MAX;
const MAKES_ROW: i32 = 1 << 24;

/// Removals that are looked at, those that leave most first: one of a row with many pieces that may be kept has hundreds.
const MOST_REMOVALS: usize = 6;

/// Plays that are tried one play ahead of the end, and half of those tried two ahead of it, the most promising first.
const MOST_PLAYS: usize = 24;

/// Buffers of one ply of the tree.
#[derive(Clone, Debug, Default)]
struct Ply {
    plays: Vec<Play>,
    order: Vec<(i32, u16)>,
    outcomes: Vec<(Play, f64)>,
    /// The best line from here on.
    line: Vec<Play>,
}

/// What is kept from one decision to the next to be used again: memory only, no knowledge.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    table: Table,
    history: History,
    plies: Vec<Ply>,
}

impl Memory {
    pub(super) fn new() -> Memory {
        Memory {
            table: Table::new(),
            history: History::new(MOST_PLIES + 1),
            plies: vec![Ply::default(); MOST_PLIES + 1],
        }
    }
}

/// The search of one decision.
pub(super) struct Search<'a> {
    memory: &'a mut Memory,
    pub(super) effort: Effort<'a>,
    /// Plays that may still be made at the root.
    left: u32,
    /// Whether late plays are looked at less deeply first.
    pub(super) reduces: bool,
}

impl<'a> Search<'a> {
    /// A search whose root has `left` plays to go until the game is stopped as unfinished.
    pub(super) fn new(memory: &'a mut Memory, effort: Effort<'a>, left: u32) -> Search<'a> {
        memory.table.begin_decision();
        memory.history.clear();
        Search { memory, effort, left, reduces: true }
    }

    /// The value of a position from its own [`side`], `depth` plays ahead, if it lies between `alpha` and `beta`; else
    /// a bound of it: at most `alpha`, at least `beta`. Without meaning once the effort is over.
    pub(super) fn value(
        &mut self,
        position: &Position,
        depth: i32,
        ply: usize,
        (mut alpha, beta): (i32, i32),
    ) -> i32 {
        if depth <= 0 {
            return self.quiescence(position, super::quiescence::DEPTH, ply, (alpha, beta));
        }
        self.memory.plies[ply].line.clear();
        if !self.effort.spend() {
            return 0;
        }
        if let Some(value) = self.known(position, ply) {
            return value;
        }
        if position.is_chance() {
            return self.expectation(position, ply, |search, outcome| {
                search.seen_from(position, outcome, (-INFINITE, INFINITE), |search, window| {
                    search.value(outcome, depth, ply + 1, window)
                })
            });
        }
        let me = side(position);
        let key = self.key(position, ply);
        let wide = beta - alpha > 1;
        let found = self.memory.table.find(key);
        if let Some(entry) = found
            && i32::from(entry.depth) == depth
            && !wide
        {
            let value = from_table(entry.value, ply);
            let holds = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
            };
            if holds {
                return value;
            }
        }
        let mut here = std::mem::take(&mut self.memory.plies[ply]);
        position.actions(&mut here.plays);
        if let &[forced] = here.plays.as_slice() {
            // Nothing is decided, so it costs no depth.
            self.memory.plies[ply] = here;
            let mut next = *position;
            next.play(forced);
            let value = self.seen_from(position, &next, (alpha, beta), |search, window| {
                search.value(&next, depth, ply + 1, window)
            });
            self.prolong(ply, forced);
            return value;
        }
        self.arrange(position, me, ply, found.map(|entry| entry.play), &mut here);
        let before = alpha;
        let mut best = (-INFINITE, Play::PASS);
        let mut tried = 0;
        let most = self.most_tried(position, depth);
        // A position is lost only if every play is: none is left out then.
        while tried < here.order.len() && (tried < most || best.0 <= LOST) {
            let at = pick(&mut here.order, tried);
            let play = here.plays[at];
            let mut next = *position;
            next.play(play);
            let less = self.reduction(depth, tried, here.order[tried].0);
            tried += 1;
            let mut value = -INFINITE;
            let look = |search: &mut Self, depth, window| {
                search.seen_from(position, &next, window, |search, window| {
                    search.value(&next, depth, ply + 1, window)
                })
            };
            // All but the first are first shown not to be better; those that are get the whole window.
            let mut whole = tried == 1;
            if !whole {
                value = look(self, depth - 1 - less, (alpha, alpha + 1));
                if value > alpha && less > 0 {
                    value = look(self, depth - 1, (alpha, alpha + 1));
                }
                whole = value > alpha && value < beta;
            }
            if whole {
                value = look(self, depth - 1, (alpha, beta));
            }
            if self.effort.is_over() {
                self.memory.plies[ply] = here;
                return 0;
            }
            if value > best.0 {
                best = (value, play);
            }
            if value > alpha {
                alpha = value;
                if wide {
                    here.line.clear();
                    here.line.push(play);
                    here.line.extend_from_slice(&self.memory.plies[ply + 1].line);
                }
            }
            if alpha >= beta {
                break;
            }
        }
        let (value, play) = best;
        if value >= beta && here.order[tried - 1].0 < MAKES_ROW {
            let before =
                here.order[..tried - 1].iter().map(|&(_, at)| &here.plays[usize::from(at)]);
            self.memory.history.refuted(me, ply, depth, play, before);
        }
        self.memory.plies[ply] = here;
        let bound = match value {
            _ if value >= beta => Bound::Lower,
            _ if value > before => Bound::Exact,
            _ => Bound::Upper,
        };
        self.memory.table.store(key, play, to_table(value, ply), depth as u8, bound);
        value
    }

    /// The value of a game that is over or stopped here, or of a line that is not followed any further.
    #[inline]
    pub(super) fn known(&self, position: &Position, ply: usize) -> Option<i32> {
        if let Some(winner) = position.winner() {
            let won = WIN - ply as i32;
            return Some(if winner == side(position) { won } else { -won });
        }
        if ply as u32 >= self.left {
            return Some(0);
        }
        (ply >= MOST_PLIES).then(|| own(side(position), evaluation(position)))
    }

    /// The key of a position in the table. Where the limit of plays is within reach, the plays made so far belong to it.
    #[inline]
    fn key(&self, position: &Position, ply: usize) -> u64 {
        let key = position.hash64();
        if self.left as usize > MOST_PLIES {
            return key;
        }
        key ^ (ply as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The value of the position after a play from the side of the one before it: where the side changes, the window and
    /// the value change their signs.
    #[inline]
    pub(super) fn seen_from(
        &mut self,
        before: &Position,
        after: &Position,
        (alpha, beta): (i32, i32),
        value: impl FnOnce(&mut Self, (i32, i32)) -> i32,
    ) -> i32 {
        if side(before) == side(after) {
            value(self, (alpha, beta))
        } else {
            -value(self, (-beta, -alpha))
        }
    }

    /// The mean over the outcomes of a side game of what `value` says of each.
    pub(super) fn expectation(
        &mut self,
        position: &Position,
        ply: usize,
        mut value: impl FnMut(&mut Self, &Position) -> i32,
    ) -> i32 {
        let mut here = std::mem::take(&mut self.memory.plies[ply].outcomes);
        outcomes(position, &mut here);
        let mut values = [(0.0, 0); 3];
        let count = here.len().min(values.len());
        for (slot, &(play, probability)) in values.iter_mut().zip(&here) {
            let mut next = *position;
            next.play(play);
            *slot = (probability, value(self, &next));
        }
        self.memory.plies[ply].outcomes = here;
        mean(&values[..count])
    }

    /// Puts a play in front of the line found after it.
    fn prolong(&mut self, ply: usize, play: Play) {
        let [here, below] = &mut self.memory.plies[ply..ply + 2] else { return };
        here.line.clear();
        here.line.push(play);
        here.line.extend_from_slice(&below.line);
    }

    /// Scores every play: the table's first, then those that may make rows, then by history. Removals go by what they
    /// promise.
    fn arrange(
        &self,
        position: &Position,
        me: Color,
        ply: usize,
        from_table: Option<Play>,
        here: &mut Ply,
    ) {
        here.order.clear();
        let removes = matches!(position.phase(), Phase::Removal(_));
        let mut finder = RowFinder::new(position, me);
        for (&play, at) in here.plays.iter().zip(0..) {
            let score = if from_table == Some(play) {
                FROM_TABLE
            } else if removes {
                MAKES_ROW + removal_score(position, me, play)
            } else if finder.may_make_row(play) {
                MAKES_ROW
            } else {
                self.memory.history.score(me, ply, play)
            };
            here.order.push((score, at));
        }
    }

    /// How many plays of a position are tried at most.
    #[inline]
    fn most_tried(&self, position: &Position, depth: i32) -> usize {
        match (self.reduces, position.phase()) {
            (false, _) => usize::MAX,
            (true, Phase::Removal(_)) => MOST_REMOVALS,
            (true, _) if depth <= 2 => MOST_PLAYS * depth as usize,
            (true, _) => usize::MAX,
        }
    }

    /// By how many plays less a play is looked ahead at first.
    #[inline]
    fn reduction(&self, depth: i32, tried: usize, score: i32) -> i32 {
        if !self.reduces || depth < 3 || tried < 6 || score >= MAKES_ROW {
            return 0;
        }
        1 + i32::from(depth >= 4 && tried >= 16) + i32::from(depth >= 5 && tried >= 32)
    }

    /// The buffer of a ply's plays, to be given back.
    pub(super) fn lend(&mut self, ply: usize) -> Vec<Play> {
        std::mem::take(&mut self.memory.plies[ply].plays)
    }

    pub(super) fn give_back(&mut self, ply: usize, plays: Vec<Play>) {
        self.memory.plies[ply].plays = plays;
    }

    /// The best line found from the root on.
    pub(super) fn line(&self, ply: usize) -> &[Play] {
        &self.memory.plies[ply].line
    }

    pub(super) fn clear_line(&mut self, ply: usize) {
        self.memory.plies[ply].line.clear();
    }
}

/// The outcomes of a side game with their probabilities; those of a recorded one, which has none, are equally likely.
pub(super) fn outcomes(position: &Position, out: &mut Vec<(Play, f64)>) {
    position.outcomes(out);
    if out.is_empty() {
        let plays = [Play::WIN, Play::TIE, Play::LOSS];
        out.extend(plays.into_iter().map(|play| (play, 1.0 / 3.0)));
    }
}
