//! What becomes of the potentials of a game.

use gipf_core::{Color, Play, PlayKind, Position, Potential};
use gipf_core::{EntryKind, SideGameOutcome};
use serde::{Deserialize, Serialize};

/// How the potentials of one kind and colour ended. Each of a mix ends in one of these ways, so the four sum to its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fates {
    /// It moved, or entered once more.
    pub used: u8,
    /// It never moved and was still there at the end of the game: in the hand, or on its basic piece, covered or not.
    pub kept: u8,
    /// The other colour took it with its basic piece, or won the side game against it.
    pub lost: u8,
    /// Its own colour gave it up: with a basic piece that was entered before it, or in a removal of its own.
    pub wasted: u8,
}

/// The fates of White's and of Black's potentials, by kind.
pub(super) type GameFates = [[Fates; 5]; 2];

/// The fates of a game's potentials. `positions` are those before each play and the last one.
pub(super) fn fates(positions: &[Position], plays: &[Play]) -> GameFates {
    let mut fates = GameFates::default();
    let mut unused = positions.first().map_or([[0; 5]; 2], on_board);
    for (around, play) in positions.windows(2).zip(plays) {
        let [before, after] = around else { continue };
        let left = on_board(after);
        for color in Color::ALL {
            for kind in Potential::ALL {
                let (me, at) = (color.index(), kind.index());
                let fate = &mut fates[me][at];
                let gone: u8 = unused[me][at].saturating_sub(left[me][at]);
                match play.kind() {
                    PlayKind::Remove(_) if before.decider() == Some(color) => fate.wasted += gone,
                    PlayKind::Remove(_) | PlayKind::Outcome(SideGameOutcome::Loss) => {
                        fate.lost += gone;
                    }
                    PlayKind::Enter { kind: entered, .. } => {
                        let [hand, rest] = [before, after].map(|it| it.hand_potentials(color)[at]);
                        let entered = color == before.mover() && entered == EntryKind::Loaded(kind);
                        fate.wasted += (hand - rest) - u8::from(entered);
                    }
                    // A move at once, or one that was let pass or won.
                    _ => fate.used += gone,
                }
            }
        }
        unused = left;
    }
    if let Some(last) = positions.last() {
        for color in Color::ALL {
            for kind in Potential::ALL {
                let (me, at) = (color.index(), kind.index());
                fates[me][at].kept = unused[me][at] + last.hand_potentials(color)[at];
            }
        }
    }
    fates
}

/// Potentials that lie unused on basic pieces of their own colour, covered or not, by colour and kind.
fn on_board(position: &Position) -> [[u8; 5]; 2] {
    let mut counts = [[0; 5]; 2];
    for stack in position.complex().iter().filter_map(|spot| position.stack(spot)) {
        if let (Some((base, _)), Some(kind)) = (stack.base, stack.potential)
            && base == stack.first
        {
            counts[base.index()][kind.index()] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::game;

    /// Every potential of a mix has one fate, in random games by rules with every kind of play; and each fate comes about.
    #[test]
    fn each_potential_has_one_fate() {
        let mut seen = Fates::default();
        for rules in [
            "standard+T6",
            "tournament+Z4Y4|D4P4",
            "ultimate",
            "standard+T4Z4D4;challenge=rps;limit=2",
            "standard+D6P6;punct=convert",
        ] {
            for seq in 0..30 {
                let game = game(rules, seq, 300).replay().expect("a legal game");
                let found = fates(&game.positions, &game.plays);
                for color in Color::ALL {
                    let mix = game.rules.mix(color);
                    for (fate, mix) in found[color.index()].iter().zip(mix) {
                        let Fates { used, kept, lost, wasted } = *fate;
                        assert_eq!(used + kept + lost + wasted, mix, "{rules} {seq} {found:?}");
                        seen.used |= used;
                        seen.kept |= kept;
                        seen.lost |= lost;
                        seen.wasted |= wasted;
                    }
                }
            }
        }
        assert!(seen.used > 0 && seen.kept > 0 && seen.lost > 0 && seen.wasted > 0, "{seen:?}");
    }

    #[test]
    fn fates_follow_the_plays() {
        let follow = |rules: &str, plays: &str| {
            let mut position = rules.parse::<gipf_core::Rules>().expect("rules").start();
            let mut positions = vec![position];
            let plays: Vec<Play> =
                plays.split(' ').map(|play| play.parse().expect("a play")).collect();
            for &play in &plays {
                position.try_play(play).expect("legal");
                positions.push(position);
            }
            fates(&positions, &plays)
        };
        // White loads a Y, runs with it, and gives the other up with a basic piece; Black keeps both of its own, loaded.
        let found = follow("standard+Y2|T2", "Ye1-e2 Th1-h2 Ye2:f2 Te9-e8 e1-e2");
        let yinsh = found[0][Potential::Yinsh.index()];
        assert_eq!(yinsh, Fates { used: 1, kept: 0, lost: 0, wasted: 1 });
        let tamsk = found[1][Potential::Tamsk.index()];
        assert_eq!(tamsk, Fates { used: 0, kept: 2, lost: 0, wasted: 0 });
    }
}
