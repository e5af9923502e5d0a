//! Where the search ends: rows are made and removed until nobody wants to make one.

use gipf_core::{Color, Phase, Play, Position};

use super::evaluation::evaluation;
use super::order::removal_score;
use super::rows::{RowFinder, keep_one_load};
use super::search::Search;
use super::value::{INFINITE, LOST, own, side};

/// Plays that are looked ahead beyond the search's depth at most.
pub(super) const DEPTH: u32 = 10;

impl Search<'_> {
    /// The value of a position, once nobody wants to make a row any more, from its own side; bounds as
    /// [`Search::value`] gives them.
    ///
    /// Whoever decides leaves the position as it stands or makes a row; of loaded pieces that differ in nothing but their
    /// potential it enters one only. An earned extra move makes a row or is skipped, an announced move is let pass. A
    /// removal is the one that promises most (`removal_score`), so that rows with many pieces that may be kept do not let
    /// the tree explode.
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
        let as_it_stands = |position: &Position| own(me, evaluation(position));
        if depth == 0 {
            return as_it_stands(position);
        }
        let mut best = -INFINITE;
        match position.phase() {
            Phase::SideGame => {
                return self.expectation(position, ply, |search, outcome| {
                    search.seen_from(position, outcome, (-INFINITE, INFINITE), |search, window| {
                        search.quiescence(outcome, depth - 1, ply + 1, window)
                    })
                });
            }
            Phase::Regular | Phase::ExtraOwed => {
                best = as_it_stands(position);
                if best >= beta {
                    return best;
                }
                alpha = alpha.max(best);
            }
            _ => {}
        }
        let mut plays = self.lend(ply);
        if self.noisy(position, me, &mut plays) {
            // A play that is left out may be better than one that loses for certain.
            best = best.max(LOST + 1);
        }
        for &play in &plays {
            let mut next = *position;
            next.play(play);
            let value = self.seen_from(position, &next, (alpha, beta), |search, window| {
                search.quiescence(&next, depth - 1, ply + 1, window)
            });
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta || self.effort.is_over() {
                break;
            }
        }
        self.give_back(ply, plays);
        best
    }

    /// The plays that quiescence looks at, and whether there are others. Clears `plays` first.
    pub(super) fn noisy(&self, position: &Position, me: Color, plays: &mut Vec<Play>) -> bool {
        position.actions(plays);
        let all = plays.len();
        match position.phase() {
            Phase::Removal(_) => {
                let scored = plays.iter().map(|&play| (removal_score(position, me, play), play));
                let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
                plays.clear();
                plays.extend(best.map(|(_, play)| play));
            }
            Phase::Challenge => plays.retain(|&play| play == Play::PASS),
            phase => {
                keep_one_load(plays);
                let mut finder = RowFinder::new(position, me);
                plays.retain(|&play| {
                    play == Play::SKIP_EXTRA && phase == Phase::ExtraEarned
                        || finder.makes_row(play)
                });
            }
        }
        plays.len() < all
    }
}
