//! The policy map: which logits make up the logit of each action.
//!
//! A network says [`POLICY_PLANES`] planes of logits over the 37 spots and [`POLICY_GLOBALS`] more. An action's *group* is a set of
//! them with weights, its logit their weighted sum; a removal that two lines share has two groups, and its logit is the
//! logarithm of the sum of their exponentials. The softmax then runs over the actions of the position.
//!
//! | plays | planes | at |
//! |---|---|---|
//! | entry of each of 7 kinds onto an empty spot | 1 a kind, *place* | the first spot |
//! | entry of each of 7 kinds that pushes | 6 a kind, by direction | the first spot |
//! | TAMSK extra move | 1 place and 6 push | the first spot |
//! | ZÈRTZ jump | 6, by direction | the source |
//! | YINSH run | 36, by direction and distance | the source |
//! | DVONN cover, PÜNCT cover | 6 each, by direction | the source |
//! | removal of a line's row | 3, by orientation | all spots of the line, averaged |
//! | the same | 1, *take* | each spot taken by choice, added |
//! | skip, decline, challenge, pass | global | |
//!
//! Whose play it is does not matter: features are seen by the decider.

use std::ops::Range;
use std::sync::LazyLock;

use gipf_core::position::RemovalLine;
use gipf_core::{
    Direction, Entry, EntryKind, Play, PlayKind, Position, Potential, Rules, Spot, SpotSet,
    Symmetry, Variant,
};

/// The version of this map, raised with every change of an index's meaning.
pub const POLICY_VERSION: u32 = 1;
/// Planes of logits over the spots.
pub const POLICY_PLANES: usize = TAKE + 1;
/// Spots of a plane.
pub const PLANE_SPOTS: usize = Spot::ALL.len();
/// Logits that belong to no spot; their indices follow those of the planes.
pub const POLICY_GLOBALS: usize = 4;
/// All logits of a position. A plane's logit at a spot has index `plane * PLANE_SPOTS + spot`.
pub const POLICY_SIZE: usize = POLICY_PLANES * PLANE_SPOTS + POLICY_GLOBALS;

// Where each family of planes starts. An entry family has 7 planes: place, then push by direction.
const ENTER: usize = 0;
const EXTRA: usize = ENTER + 7 * EntryKind::COUNT;
const ZERTZ: usize = EXTRA + 7;
const YINSH: usize = ZERTZ + 6;
const YINSH_DISTANCES: usize = 6;
const DVONN: usize = YINSH + 6 * YINSH_DISTANCES;
const PUNCT: usize = DVONN + 6;
const REMOVAL: usize = PUNCT + 6;
const TAKE: usize = REMOVAL + 3;

const SKIP: usize = POLICY_PLANES * PLANE_SPOTS;
const DECLINE: usize = SKIP + 1;
const CHALLENGE: usize = SKIP + 2;
const PASS: usize = SKIP + 3;

/// A set of policy planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlaneMask(u128);

impl PlaneMask {
    /// No plane.
    pub const NONE: PlaneMask = PlaneMask(0);
    /// Every plane.
    pub const ALL: PlaneMask = PlaneMask((1 << POLICY_PLANES) - 1);

    /// Adds a plane.
    pub fn insert(&mut self, plane: usize) {
        self.0 |= 1 << plane;
    }

    /// Whether a plane is in it.
    pub const fn contains(self, plane: usize) -> bool {
        self.0 >> plane & 1 != 0
    }

    /// The planes of either.
    #[must_use]
    pub const fn union(self, other: PlaneMask) -> PlaneMask {
        PlaneMask(self.0 | other.0)
    }

    /// Whether all its planes are in `other`.
    pub const fn is_subset(self, other: PlaneMask) -> bool {
        self.0 & !other.0 == 0
    }

    /// The number of its planes.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it has no plane.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its planes, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..POLICY_PLANES).filter(move |&plane| self.contains(plane))
    }
}

/// The policy planes that a game by these rules can ever use, so that an evaluator may leave out the others.
pub fn plane_mask(rules: &Rules) -> PlaneMask {
    let mut mask = PlaneMask::NONE;
    let mut family =
        |start: usize, planes: usize| (start..start + planes).for_each(|plane| mask.insert(plane));
    let has = |kind: Potential| {
        gipf_core::Color::ALL.iter().any(|&color| rules.mix(color)[kind.index()] > 0)
    };
    family(ENTER, 7);
    if rules.variant() == Variant::Tournament {
        family(ENTER + 7 * EntryKind::Gipf.index(), 7);
    }
    for kind in Potential::ALL.into_iter().filter(|&kind| has(kind)) {
        family(ENTER + 7 * EntryKind::Loaded(kind).index(), 7);
        match kind {
            Potential::Tamsk => family(EXTRA, 7),
            Potential::Zertz => family(ZERTZ, 6),
            Potential::Dvonn => family(DVONN, 6),
            Potential::Yinsh => family(YINSH, 6 * YINSH_DISTANCES),
            Potential::Punct => family(PUNCT, 6),
        }
    }
    family(REMOVAL, 3);
    family(TAKE, 1);
    mask
}

/// What a policy plane is for, in words.
///
/// # Panics
/// If there is no such plane.
pub fn plane_name(plane: usize) -> String {
    const DIRECTIONS: [&str; 6] = ["N", "NE", "SE", "S", "SW", "NW"];
    let entry = |what: &str, plane: usize| match plane % 7 {
        0 => format!("{what} onto an empty spot"),
        push => format!("{what} that pushes {}", DIRECTIONS[push - 1]),
    };
    match plane {
        ENTER..EXTRA => {
            let kind = match EntryKind::from_index(plane / 7) {
                Some(EntryKind::Gipf) => "a GIPF-piece".to_owned(),
                Some(EntryKind::Loaded(kind)) => {
                    format!("a piece with a {}-potential", kind.name())
                }
                _ => "a basic piece".to_owned(),
            };
            entry(&format!("entry of {kind}"), plane)
        }
        EXTRA..ZERTZ => entry("TAMSK-potential's extra move", plane - EXTRA),
        ZERTZ..YINSH => format!("ZÈRTZ-potential's jump {}", DIRECTIONS[plane - ZERTZ]),
        YINSH..DVONN => {
            let (direction, distance) =
                ((plane - YINSH) / YINSH_DISTANCES, (plane - YINSH) % YINSH_DISTANCES + 1);
            format!("YINSH-potential's run {} by {distance}", DIRECTIONS[direction])
        }
        DVONN..PUNCT => format!("DVONN-potential's cover {}", DIRECTIONS[plane - DVONN]),
        PUNCT..REMOVAL => format!("PÜNCT-potential's cover {}", DIRECTIONS[plane - PUNCT]),
        REMOVAL..TAKE => {
            let orientation = ["N-S", "NE-SW", "SE-NW"][plane - REMOVAL];
            format!("removal of a row {orientation}, averaged over its line")
        }
        TAKE => "a spot that a removal takes by choice".to_owned(),
        other => panic!("no policy plane {other}"),
    }
}

/// For each action of a position its one group, or two, of weighted logits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyIndex {
    /// Logit index and weight, all groups one after the other.
    terms: Vec<(u16, f32)>,
    /// Where each group ends in `terms`.
    group_ends: Vec<u32>,
    /// Where each action ends in `group_ends`. Both are empty as long as every action is one group of one term, which all
    /// but removals are.
    action_ends: Vec<u32>,
    /// Room for a removal's lines, kept so that filling allocates nothing.
    lines: Vec<RemovalLine>,
}

impl PolicyIndex {
    /// An index of no action.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes it the index of these actions, plays of `position` in phases where somebody decides.
    pub fn fill(&mut self, position: &Position, actions: &[Play]) {
        self.terms.clear();
        self.group_ends.clear();
        self.action_ends.clear();
        let occupied = position.occupied();
        for &action in actions {
            match action.kind() {
                PlayKind::Enter { kind, entry } => {
                    self.entry(ENTER + 7 * kind.index(), entry, occupied)
                }
                PlayKind::Extra(entry) => self.entry(EXTRA, entry, occupied),
                PlayKind::Move { kind, from, to } => self.potential(kind, from, to),
                PlayKind::Remove(taken) => self.removal(position, taken),
                PlayKind::SkipExtra => self.single(SKIP),
                PlayKind::Decline => self.single(DECLINE),
                PlayKind::Challenge => self.single(CHALLENGE),
                PlayKind::Pass => self.single(PASS),
                // Chance decides here, not a policy: an action without a group has logit 0.
                PlayKind::Outcome(_) => {
                    self.write_ends();
                    self.end_action();
                }
            }
        }
    }

    /// The number of actions.
    pub fn actions(&self) -> usize {
        if self.is_plain() { self.terms.len() } else { self.action_ends.len() }
    }

    /// The planes that its groups use.
    pub fn planes(&self) -> PlaneMask {
        let mut planes = PlaneMask::NONE;
        for (index, _) in self.terms.iter().filter(|(index, _)| usize::from(*index) < SKIP) {
            planes.insert(usize::from(*index) / PLANE_SPOTS);
        }
        planes
    }

    /// The groups of an action: index and weight of each of its logits. No group if there is no such action.
    pub fn groups_of(&self, action: usize) -> impl ExactSizeIterator<Item = &[(u16, f32)]> {
        let groups = if action < self.actions() { self.groups(action) } else { 0..0 };
        groups.map(|group| &self.terms[self.terms_of(group)])
    }

    /// The logit of each action from all [`POLICY_SIZE`] logits, written to `out`.
    ///
    /// # Panics
    /// If `all` is shorter.
    pub fn logits(&self, all: &[f32], out: &mut Vec<f32>) {
        self.logits_with(|index| all[usize::from(index)], out);
    }

    /// The logit of each action, written to `out`; `logit` gives the one of an index. For evaluators that leave planes out.
    pub fn logits_with(&self, logit: impl Fn(u16) -> f32, out: &mut Vec<f32>) {
        self.combine(|at| logit(self.terms[at].0), out);
    }

    /// The logits that the actions' groups are made of, one after the other: index and weight of each.
    pub(crate) fn terms(&self) -> &[(u16, f32)] {
        &self.terms
    }

    /// The logit of each action, written to `out`; `values` has one logit for each of [`Self::terms`].
    pub(crate) fn logits_of_terms(&self, values: &[f32], out: &mut Vec<f32>) {
        self.combine(|at| values[at], out);
    }

    /// Puts the groups together; `value` is the logit of a term.
    fn combine(&self, value: impl Fn(usize) -> f32, out: &mut Vec<f32>) {
        out.clear();
        if self.is_plain() {
            out.extend(self.terms.iter().enumerate().map(|(at, (_, weight))| weight * value(at)));
            return;
        }
        let sum = |group: usize| -> f32 {
            self.terms_of(group).map(|at| self.terms[at].1 * value(at)).sum()
        };
        out.extend((0..self.actions()).map(|action| {
            let groups = self.groups(action);
            match groups.len() {
                0 => 0.0,
                1 => sum(groups.start),
                // A removal deals with two lines at most.
                _ => log_add_exp(sum(groups.start), sum(groups.start + 1)),
            }
        }));
    }

    /// The same actions on the transformed board, in the same order.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> PolicyIndex {
        let mut image = self.clone();
        image.transform(symmetry);
        image
    }

    /// Makes it the index of the same actions on the transformed board, in the same order.
    pub(crate) fn transform(&mut self, symmetry: Symmetry) {
        let permutation = symmetry_permutation(symmetry);
        for (index, _) in &mut self.terms {
            *index = permutation[usize::from(*index)];
        }
    }

    fn entry(&mut self, family: usize, entry: Entry, occupied: SpotSet) {
        let first = entry.first_spot();
        let push = if occupied.contains(first) { 1 + entry.direction().index() } else { 0 };
        self.single(logit(family + push, first));
    }

    fn potential(&mut self, kind: Potential, from: Spot, to: Spot) {
        let Some((direction, distance)) = from.distance_to(to) else {
            debug_assert!(false, "a potential moves along a line");
            return;
        };
        let direction = direction.index();
        let plane = match kind {
            Potential::Zertz => ZERTZ + direction,
            Potential::Yinsh => YINSH + direction * YINSH_DISTANCES + usize::from(distance) - 1,
            Potential::Dvonn => DVONN + direction,
            Potential::Punct => PUNCT + direction,
            Potential::Tamsk => EXTRA,
        };
        self.single(logit(plane, from));
    }

    fn removal(&mut self, position: &Position, taken: SpotSet) {
        self.write_ends();
        let mut lines = std::mem::take(&mut self.lines);
        position.removal_lines(taken, &mut lines);
        debug_assert!((1..=2).contains(&lines.len()), "a removal deals with one line or two");
        for &RemovalLine { line, optional, .. } in lines.iter().take(2) {
            let weight = 1.0 / line.len() as f32;
            for spot in line.spots().iter() {
                self.terms.push((logit(REMOVAL + line.orientation(), spot) as u16, weight));
            }
            for spot in (optional & taken).iter() {
                self.terms.push((logit(TAKE, spot) as u16, 1.0));
            }
            self.end_group();
        }
        self.lines = lines;
        self.end_action();
    }

    /// An action of one group of one logit.
    fn single(&mut self, index: usize) {
        self.terms.push((index as u16, 1.0));
        if !self.is_plain() {
            self.end_group();
            self.end_action();
        }
    }

    fn is_plain(&self) -> bool {
        self.action_ends.is_empty()
    }

    /// Before the first action that is not one group of one term: where those before it end.
    fn write_ends(&mut self) {
        if self.is_plain() {
            let ends = 1..=self.terms.len() as u32;
            self.group_ends.extend(ends.clone());
            self.action_ends.extend(ends);
        }
    }

    fn end_group(&mut self) {
        self.group_ends.push(self.terms.len() as u32);
    }

    fn end_action(&mut self) {
        self.action_ends.push(self.group_ends.len() as u32);
    }

    /// The groups of an action that there is.
    fn groups(&self, action: usize) -> Range<usize> {
        range(&self.action_ends, action, self.is_plain())
    }

    /// The terms of a group that there is.
    fn terms_of(&self, group: usize) -> Range<usize> {
        range(&self.group_ends, group, self.is_plain())
    }
}

/// The index of a plane's logit at a spot.
fn logit(plane: usize, spot: Spot) -> usize {
    plane * PLANE_SPOTS + spot.index()
}

/// From the end before to this one, or one place each where it is plain.
fn range(ends: &[u32], at: usize, is_plain: bool) -> Range<usize> {
    match at {
        _ if is_plain => at..at + 1,
        0 => 0..ends[0] as usize,
        _ => ends[at - 1] as usize..ends[at] as usize,
    }
}

fn log_add_exp(a: f32, b: f32) -> f32 {
    let most = a.max(b);
    most + (-(a - b).abs()).exp().ln_1p()
}

/// Where each logit goes under a symmetry: a logit at index `i` of a position stands at index `permutation[i]` for the transformed
/// position.
pub fn symmetry_permutation(symmetry: Symmetry) -> &'static [u16; POLICY_SIZE] {
    static ALL: LazyLock<Vec<[u16; POLICY_SIZE]>> =
        LazyLock::new(|| Symmetry::ALL.iter().map(|&symmetry| permutation_of(symmetry)).collect());
    &ALL[symmetry.index()]
}

fn permutation_of(symmetry: Symmetry) -> [u16; POLICY_SIZE] {
    // The globals stay where they are.
    let mut permutation = std::array::from_fn(|index| index as u16);
    for plane in 0..POLICY_PLANES {
        let image = image_of_plane(symmetry, plane);
        for spot in Spot::ALL {
            permutation[plane * PLANE_SPOTS + spot.index()] =
                (image * PLANE_SPOTS + symmetry.spot(spot).index()) as u16;
        }
    }
    permutation
}

fn image_of_plane(symmetry: Symmetry, plane: usize) -> usize {
    let turn = |direction: usize| symmetry.direction(Direction::from_index(direction)).index();
    match plane {
        ENTER..ZERTZ => match plane % 7 {
            0 => plane,
            push => plane - push + 1 + turn(push - 1),
        },
        ZERTZ..YINSH => ZERTZ + turn(plane - ZERTZ),
        YINSH..DVONN => {
            let (direction, distance) =
                ((plane - YINSH) / YINSH_DISTANCES, (plane - YINSH) % YINSH_DISTANCES);
            YINSH + turn(direction) * YINSH_DISTANCES + distance
        }
        DVONN..PUNCT => DVONN + turn(plane - DVONN),
        PUNCT..REMOVAL => PUNCT + turn(plane - PUNCT),
        // An orientation is that of the first three directions.
        REMOVAL..TAKE => REMOVAL + turn(plane - REMOVAL) % 3,
        _ => plane,
    }
}
