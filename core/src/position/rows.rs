//! Rows, segments and removals (rules, section 7).

use super::{Code, Position};
use crate::Color;
use crate::board::{Direction, Line, SpotSet};
use crate::play::Play;

/// A row: four or more neighbouring spots of one line owned by one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line; a line holds at most one row.
    pub line: Line,
    /// The row itself.
    pub run: SpotSet,
    /// The row and every stack that extends it without a gap.
    pub segment: SpotSet,
    /// Spots of the segment whose top must be taken.
    pub must: SpotSet,
    /// Spots of the segment whose top may be kept: loaded, GIPF- and converted pieces.
    pub optional: SpotSet,
    /// Whether it consists of GIPF-pieces only and nothing of its segment must be taken.
    pub gipf_only: bool,
    /// Whether its owner has to deal with it, or is offered to.
    pub due: bool,
}

/// A line that a removal deals with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovalLine {
    /// The line.
    pub line: Line,
    /// The segment of its row.
    pub segment: SpotSet,
    /// The spots of the segment whose top may be kept.
    pub optional: SpotSet,
}

/// The lowest spots of all runs of four along a stride.
#[inline]
pub(super) const fn fours(set: SpotSet, stride: u32) -> u64 {
    let two = set.0 & set.0 >> stride;
    two & two >> (2 * stride)
}

/// The whole runs that start with the given runs of four.
#[inline]
pub(super) const fn runs(fours: u64, stride: u32) -> SpotSet {
    let two = fours | fours << stride;
    SpotSet(two | two << (2 * stride))
}

impl SpotSet {
    /// The spots of the set that stand in four or more neighbours along the lines of an orientation
    /// (0: N-S, 1: NE-SW, 2: SE-NW): of a colour's spots, those in its rows (rules, section 7).
    #[inline]
    #[must_use]
    pub const fn rows(self, orientation: usize) -> SpotSet {
        let stride = Direction::from_index(orientation).stride();
        runs(fours(self, stride), stride)
    }
}

/// A set grown along a line over neighbouring spots of another set.
#[inline]
pub(super) fn grown(set: SpotSet, line: Line, over: SpotSet) -> SpotSet {
    let over = over & line.spots();
    let mut grown = set.0;
    loop {
        let next = grown | (grown << line.stride() | grown >> line.stride()) & over.0;
        if next == grown {
            return SpotSet(grown);
        }
        grown = next;
    }
}

impl Position {
    /// Calls `visit` with every row of a colour; stops when it returns true and says whether it
    /// did.
    #[inline]
    fn any_row(&self, color: Color, mut visit: impl FnMut(&Row) -> bool) -> bool {
        let owned = self.owned(color);
        for orientation in 0..3 {
            let stride = Direction::ALL[orientation].stride();
            let mut starts = fours(owned, stride);
            while let Some(spot) = SpotSet(starts).first() {
                let line = Line::through(spot, orientation);
                let here = starts & line.spots().0;
                starts &= !line.spots().0;
                if visit(&self.row(color, line, runs(here, stride))) {
                    return true;
                }
            }
        }
        false
    }

    #[inline]
    fn row(&self, color: Color, line: Line, run: SpotSet) -> Row {
        let segment = grown(run, line, self.occupied());
        let optional = self.optional(segment);
        let must = segment - optional;
        let gipf_only = must.is_empty() && run.is_subset(self.gipf_like(color));
        let due = !gipf_only
            || self.changed.intersects(segment)
                && self.closed[color.index()] >> line.index() & 1 == 0;
        Row { line, run, segment, must, optional, gipf_only, due }
    }

    /// The rows of a colour. Clears `out` first.
    pub fn rows(&self, color: Color, out: &mut Vec<Row>) {
        out.clear();
        self.any_row(color, |row| {
            out.push(*row);
            false
        });
    }

    /// Whether a colour has a row to deal with, one it must or one it may.
    #[inline]
    pub(super) fn has_due_row(&self, color: Color) -> bool {
        self.any_row(color, |row| row.due)
    }

    /// The spots of a set whose top a remover may keep.
    fn optional(&self, set: SpotSet) -> SpotSet {
        let mut optional = self.gipf & set;
        for spot in self.complex & set {
            if self.may_be_kept(self.code(spot)) {
                optional.insert(spot);
            }
        }
        optional
    }

    fn may_be_kept(&self, code: Code) -> bool {
        code.is_loaded() || self.rules.punct_convert && code.count() == 1 && code.is_converted()
    }

    /// Whether taking these tops would leave a row of the colour on the line that is not of
    /// GIPF-pieces only (rules, section 7, constraint).
    fn leaves_row(&self, color: Color, line: Line, taken: SpotSet) -> bool {
        let mut rest = (self.owned(color) & line.spots()) - taken;
        let mut gipf_like = self.gipf_like(color) - taken;
        for spot in self.complex & taken {
            let code = self.code(spot);
            if code.is_loaded() {
                continue;
            }
            match code.uncovered() {
                Some(below) if below.top() == color => {
                    rest.insert(spot);
                    if self.rules.punct_convert && below.count() == 1 && below.is_converted() {
                        gipf_like.insert(spot);
                    }
                }
                Some(_) => {}
                None if code.base() == Some(color) => rest.insert(spot),
                None => {}
            }
        }
        let four = fours(rest, line.stride());
        four != 0 && !runs(four, line.stride()).is_subset(gipf_like)
    }

    /// Whether a removal of these tops is a removal of this row.
    fn deals_with(&self, color: Color, row: &Row, taken: SpotSet) -> bool {
        row.due
            && !taken.is_empty()
            && row.must.is_subset(taken)
            && taken.is_subset(row.segment)
            && !self.leaves_row(color, row.line, taken)
    }

    /// Every removal open to a colour, each once, and declining where that is allowed.
    pub(super) fn removals(&self, color: Color, out: &mut Vec<Play>) {
        let from = out.len();
        let mut may_decline = true;
        self.any_row(color, |row| {
            if !row.due {
                return false;
            }
            may_decline &= row.gipf_only;
            // Every subset of the optional spots, the empty one first.
            let mut kept_back = 0;
            loop {
                let taken = row.must | SpotSet(kept_back);
                if !taken.is_empty() && !self.leaves_row(color, row.line, taken) {
                    let play = Play::remove(taken);
                    // Only a single spot, a crossing, can be taken by way of two lines.
                    if taken.len() > 1 || !out[from..].contains(&play) {
                        out.push(play);
                    }
                }
                kept_back = kept_back.wrapping_sub(row.optional.0) & row.optional.0;
                if kept_back == 0 {
                    return false;
                }
            }
        });
        if may_decline {
            out.push(Play::DECLINE);
        }
    }

    /// The lines a removal of these tops deals with: one, or two or three that cross on its only spot.
    /// Clears `out` first; leaves it empty if there is no such removal in this position.
    pub fn removal_lines(&self, taken: SpotSet, out: &mut Vec<RemovalLine>) {
        out.clear();
        if let super::Phase::Removal(color) = self.phase {
            self.any_row(color, |row| {
                if self.deals_with(color, row, taken) {
                    out.push(RemovalLine {
                        line: row.line,
                        segment: row.segment,
                        optional: row.optional,
                    });
                }
                false
            });
        }
    }

    /// The lines a removal deals with, as bits.
    pub(super) fn dealt_lines(&self, color: Color, taken: SpotSet) -> u32 {
        let mut lines = 0;
        self.any_row(color, |row| {
            if self.deals_with(color, row, taken) {
                lines |= 1 << row.line.index();
            }
            false
        });
        lines
    }

    /// Whether a removal of these tops is open to a colour.
    pub(super) fn is_removal(&self, color: Color, taken: SpotSet) -> bool {
        self.any_row(color, |row| self.deals_with(color, row, taken))
    }

    /// Whether a colour may decline: it has GIPF-only rows to deal with and no other.
    pub(super) fn may_decline(&self, color: Color) -> bool {
        self.has_due_row(color) && !self.any_row(color, |row| !row.gipf_only)
    }

    /// The lines of a colour's GIPF-only rows, offered or not, as bits.
    pub(super) fn gipf_only_lines(&self, color: Color) -> u32 {
        let mut lines = 0;
        self.any_row(color, |row| {
            lines |= u32::from(row.gipf_only) << row.line.index();
            false
        });
        lines
    }

    /// Drops what the turn's memory cannot need: spots outside every stretch around four
    /// neighbouring GIPF-pieces and lines without such four (rules, section 10, `ch`, `done`).
    pub(super) fn trim_turn_memory(&mut self) {
        if self.changed.is_empty() && self.closed == [0; 2] {
            return;
        }
        let converts = self.rules.punct_convert && !self.complex.is_empty();
        if self.gipf.len() < 4 && !converts {
            self.changed = SpotSet::EMPTY;
            self.closed = [0; 2];
            return;
        }
        let mut stretches = SpotSet::EMPTY;
        for color in Color::ALL {
            let mut lines = 0;
            let pieces = self.gipf_like_even_covered(color);
            for orientation in 0..3 {
                let stride = Direction::ALL[orientation].stride();
                let starts = fours(pieces, stride);
                for spot in SpotSet(starts) {
                    let line = Line::through(spot, orientation);
                    lines |= 1 << line.index();
                    stretches |= grown(runs(1 << spot.bit(), stride), line, self.occupied());
                }
            }
            self.closed[color.index()] &= lines;
        }
        self.changed &= stretches;
    }

    /// GIPF-pieces of a colour and, with `punct=convert`, its converted ones even while covered.
    pub(super) fn gipf_like_even_covered(&self, color: Color) -> SpotSet {
        let mut set = self.gipf & self.owned(color);
        if self.rules.punct_convert {
            for spot in self.complex {
                let code = self.code(spot);
                if code.first() == color && code.is_converted() {
                    set.insert(spot);
                }
            }
        }
        set
    }
}
