//! Random games by random rules, checked at every position for what the rules promise.
//!
//! `GIPF_SOAK_PLAYS` sets the number of plays; `make soak` makes 20 million.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

use gipf_core::{Color, Play, Position, Potential, Rules, Spot, SpotSet, Symmetry};
use std::env;
use std::fmt::Write as _;

/// SplitMix64: all a test needs.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n as u64) as usize
    }
}

/// A rules string drawn at random: any variant, pieces, mix, challenge and option.
fn random_rules(random: &mut Random) -> Rules {
    let mut text = ["basic:21", "standard:21", "tournament:21"][random.below(3)].to_owned();
    for (color, separator) in [('w', '+'), ('b', '|')] {
        if color == 'b' && random.below(2) == 0 {
            break;
        }
        let mut left = 15;
        text.push(separator);
        for kind in Potential::ALL {
            let count = random.below(7).min(left) * random.below(2);
            left -= count;
            write!(text, "{}{count}", kind.letter()).unwrap();
        }
    }
    text += [
        "",
        ";challenge=rps",
        ";challenge=coin;limit=2",
        ";challenge=chance:0.2/0.3/0.5;kinds=TD",
        ";challenge=recorded;limit=1",
    ][random.below(5)];
    text += ["", ";punct=convert"][random.below(2)];
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Basic pieces and potentials of a colour that are still in the game.
fn pieces(position: &Position, color: Color) -> (u32, u32) {
    let mut basics = u32::from(position.hand_basic(color));
    let mut potentials: u32 = position.hand_potentials(color).iter().map(|n| u32::from(*n)).sum();
    for stack in position.occupied().iter().filter_map(|spot| position.stack(spot)) {
        if let Some((owner, gipf)) = stack.base {
            basics += u32::from(owner == color) * (1 + u32::from(gipf));
        }
        let mine = if stack.first == color { stack.count.div_ceil(2) } else { stack.count / 2 };
        potentials += u32::from(mine);
    }
    (basics, potentials)
}

fn check_stacks(position: &Position) {
    assert!((position.owned(Color::White) & position.owned(Color::Black)).is_empty());
    assert!(position.occupied().is_subset(SpotSet::ALL));
    for spot in Spot::ALL {
        let Some(stack) = position.stack(spot) else { continue };
        assert_eq!(Some(stack.top()), position.owner(spot), "{position}");
        assert_eq!(stack.count > 0, position.complex().contains(spot), "{position}");
        if stack.count > 1 {
            let covers = matches!(stack.potential, Some(Potential::Dvonn | Potential::Punct));
            assert!(covers, "only DVONN- and PÜNCT-potentials pile up: {position}");
        }
    }
}

/// When a turn has ended, no row is left but of GIPF-pieces only (rules, section 7).
fn check_rows(position: &Position) {
    let mut rows = Vec::new();
    for color in Color::ALL {
        position.rows(color, &mut rows);
        assert!(rows.iter().all(|row| row.gipf_only), "a row is left in {position}");
    }
}

fn check_text_and_symmetry(position: &Position, random: &mut Random) {
    let text = position.to_string();
    match Position::parse(position.rules(), &text) {
        Ok(again) => {
            assert_eq!(again, *position, "{text}");
            assert_eq!(again.hash64(), position.hash64());
        }
        Err(error) => panic!("{text}: {error}"),
    }
    let mut bytes = position.to_bytes();
    assert_eq!(Position::from_bytes(position.rules(), &bytes), Ok(*position), "{text}");
    // A byte changed at random: an error, or another position that is written so.
    let at = random.below(bytes.len());
    bytes[at] ^= 1 << random.below(8);
    if let Ok(other) = Position::from_bytes(position.rules(), &bytes) {
        assert!(other != *position && other.to_bytes() == bytes, "{text}");
    }
    let symmetry = Symmetry::ALL[random.below(12)];
    let image = position.transform(symmetry);
    assert_eq!(settled(image.transform(symmetry.inverse())), settled(*position));
    let (mut plays, mut images) = (Vec::new(), Vec::new());
    position.actions(&mut plays);
    image.actions(&mut images);
    let mut mapped: Vec<Play> =
        plays.iter().map(|play| position.transform_play(symmetry, *play)).collect();
    mapped.sort();
    images.sort();
    assert_eq!(mapped, images, "{text} by symmetry {}", symmetry.index());
    for play in plays {
        let (mut after, mut after_image) = (*position, image);
        after.play(play);
        after_image.play(position.transform_play(symmetry, play));
        assert_eq!(after.transform(symmetry), after_image, "{play} in {text}");
        if random.below(4) > 0 {
            break;
        }
    }
}

/// The position after an announced move was let pass: an announcement names one of the ways onto
/// an empty spot, whose results are the same.
fn settled(mut position: Position) -> Position {
    if let Some(play) = position.announced() {
        position.play(if position.is_chance() { outcome(&position) } else { Play::PASS });
        assert!(!matches!(play.kind(), gipf_core::PlayKind::Enter { .. }));
    }
    position
}

/// An outcome of the side game that lets the move be made, if there is one.
fn outcome(position: &Position) -> Play {
    let mut legal = Vec::new();
    position.legal_plays(&mut legal);
    legal[0]
}

/// Every legal play has an action with the same result, and no two plays share a text.
fn check_actions(position: &Position, legal: &[Play]) {
    let mut actions = Vec::new();
    position.actions(&mut actions);
    let mut texts: Vec<String> = legal.iter().map(Play::to_string).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), legal.len(), "two plays with one text in {position}");
    for play in legal {
        let action = position.action_for(*play);
        assert!(actions.contains(&action), "{action} for {play} in {position}");
        assert!(position.is_legal(*play));
        let (mut a, mut b) = (*position, *position);
        a.play(*play);
        b.play(action);
        assert_eq!(settled(a), settled(b), "{play} and {action} in {position}");
    }
}

#[test]
fn random_games_keep_what_the_rules_promise() {
    let goal: u64 = env::var("GIPF_SOAK_PLAYS").map_or(20_000, |n| n.parse().unwrap());
    let seed = env::var("GIPF_SOAK_SEED").map_or(1, |n| n.parse().unwrap());
    let mut random = Random(seed);
    let (mut made, mut games, mut rules_seen, mut long) = (0, 0, 0, 0);
    let (mut legal, mut outcomes) = (Vec::new(), Vec::new());
    while made < goal || rules_seen < 40 {
        let rules = random_rules(&mut random);
        rules_seen += 1;
        assert_eq!(rules.to_string().parse(), Ok(rules));
        for _ in 0..=goal / 200_000 {
            let mut position = rules.start();
            let mut plays = 0;
            games += 1;
            while !position.is_over() && plays < 2_000 {
                let mover = position.mover();
                let before = Color::ALL.map(|color| pieces(&position, color));
                position.legal_plays(&mut legal);
                assert!(!legal.is_empty(), "no play in {position}");
                let thorough = random.below(8) == 0;
                if thorough {
                    check_actions(&position, &legal);
                    check_text_and_symmetry(&position, &mut random);
                }
                position.outcomes(&mut outcomes);
                let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
                assert!(outcomes.is_empty() || (sum - 1.0).abs() < 1e-6);
                position.play(legal[random.below(legal.len())]);
                plays += 1;
                check_stacks(&position);
                if position.mover() != mover && !position.is_over() {
                    check_rows(&position);
                }
                for color in Color::ALL {
                    let (was, is) = (before[color.index()], pieces(&position, color));
                    assert!(is.0 <= was.0 && is.1 <= was.1, "pieces out of nothing: {position}");
                    assert_eq!(u32::from(position.basic_pieces(color)), is.0, "{position}");
                }
            }
            made += plays;
            long += u64::from(plays > 500);
        }
    }
    println!(
        "{made} plays, {games} games, {rules_seen} rules strings, {long} games past 500 plays"
    );
}
