//! The planes of logits: what each stands for, which of them a game can use, and where a symmetry moves them.

use std::sync::LazyLock;

use gipf_core::{Direction, EntryKind, Potential, Rules, Spot, Symmetry, Variant};

/// Planes of logits over the spots.
pub const POLICY_PLANES: usize = TAKE + 1;
/// Spots of a plane.
pub const PLANE_SPOTS: usize = Spot::ALL.len();
/// Logits that belong to no spot; their indices follow those of the planes.
pub const POLICY_GLOBALS: usize = 4;
/// All logits of a position. A plane's logit at a spot has index `plane * PLANE_SPOTS + spot`.
pub const POLICY_SIZE: usize = POLICY_PLANES * PLANE_SPOTS + POLICY_GLOBALS;

// Where each family of planes starts. An entry family has 7 planes: place, then push by direction.
pub(super) const ENTER: usize = 0;
pub(super) const EXTRA: usize = ENTER + 7 * EntryKind::COUNT;
pub(super) const ZERTZ: usize = EXTRA + 7;
pub(super) const YINSH: usize = ZERTZ + 6;
pub(super) const YINSH_DISTANCES: usize = 6;
pub(super) const DVONN: usize = YINSH + 6 * YINSH_DISTANCES;
pub(super) const PUNCT: usize = DVONN + 6;
pub(super) const REMOVAL: usize = PUNCT + 6;
pub(super) const TAKE: usize = REMOVAL + 3;

pub(super) const SKIP: usize = POLICY_PLANES * PLANE_SPOTS;
pub(super) const DECLINE: usize = SKIP + 1;
pub(super) const CHALLENGE: usize = SKIP + 2;
pub(super) const PASS: usize = SKIP + 3;

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

/// The index of a plane's logit at a spot.
pub(super) fn logit(plane: usize, spot: Spot) -> usize {
    plane * PLANE_SPOTS + spot.index()
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
