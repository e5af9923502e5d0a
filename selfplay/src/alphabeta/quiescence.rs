//! Where the search ends: rows are made and removed until nothing is about to be taken.

use gipf_core::{Phase, Play, Position};

use super::evaluation::evaluation;
use super::search::Search;
use super::value::{INFINITE, own, side};

/// Plays that are looked ahead beyond the search's depth at most.
pub(super) const DEPTH: u32 = 16;

/// What is looked at beyond the depth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Every play; none can be declined.
    All,
    /// The plays that make a row for whoever makes them, or leave the position as it stands.
    Rows,
    /// The same, but instead of leaving it as it stands the extra move is skipped: rows are waiting.
    RowsOrSkip,
    /// The announced move is let pass.
    Pass,
}

impl Which {
    fn of(phase: Phase) -> Which {
        match phase {
            Phase::Removal(_) => Which::All,
            Phase::ExtraEarned => Which::RowsOrSkip,
            Phase::Challenge => Which::Pass,
            _ => Which::Rows,
        }
    }
}

impl Search<'_> {
    /// The value of a position, once nobody wants to make a row any more, from its own side; bounds as
    /// [`Search::value`] gives them.
    pub(super) fn quiescence(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        (mut alpha, beta): (i32, i32),
    ) -> i32 {
        self.clear_line(ply);
        if !self.effort.spend() {
            return 0;
        }
        if let Some(value) = self.known(position, ply) {
            return value;
        }
        let me = side(position);
        if depth == 0 {
            return own(me, evaluation(position));
        }
        if position.is_chance() {
            return self.expectation(position, ply, |search, outcome| {
                search.seen_from(position, outcome, (-INFINITE, INFINITE), |search, window| {
                    search.quiescence(outcome, depth - 1, ply + 1, window)
                })
            });
        }
        let which = Which::of(position.phase());
        let mut best = -INFINITE;
        if which == Which::Rows {
            best = own(me, evaluation(position));
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let mut plays = self.lend(ply);
        position.actions(&mut plays);
        for &play in &plays {
            let mut next = *position;
            next.play(play);
            let wanted = match which {
                Which::All => true,
                Which::Pass => play == Play::PASS,
                Which::Rows => makes_row(&next, me),
                Which::RowsOrSkip => play == Play::SKIP_EXTRA || makes_row(&next, me),
            };
            if !wanted {
                continue;
            }
            let value = self.seen_from(position, &next, (alpha, beta), |search, window| {
                search.quiescence(&next, depth - 1, ply + 1, window)
            });
            if self.effort.is_over() {
                break;
            }
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta {
                break;
            }
        }
        self.give_back(ply, plays);
        best
    }
}

/// Whether a colour's play has led here that makes a row of its own or wins; an announced move is taken as made.
fn makes_row(after: &Position, me: gipf_core::Color) -> bool {
    let is_row = |position: &Position| match position.phase() {
        Phase::Removal(color) | Phase::Won(color) => color == me,
        _ => false,
    };
    if after.phase() == Phase::Challenge {
        let mut made = *after;
        made.play(Play::PASS);
        return is_row(&made);
    }
    is_row(after)
}
