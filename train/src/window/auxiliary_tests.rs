//! Targets of the auxiliary heads, and draws by surprise.

use super::*;
use crate::config::WindowSection;
use crate::store::{DiskWait, Store, StoreOptions};
use crate::test_games::game;
use gipf_core::record::{GameRecord, GameResult, POLICY_UNIT, RecordedPlay, SearchRecord};
use gipf_core::{Color, Play, Position, Symmetry};
use gipf_model::{AuxiliaryHeads, PolicyIndex};

const SECTION: WindowSection =
    WindowSection { minimum: 5000, growth_scale: 0.5, growth_exponent: 0.6, maximum: 9000 };
const MIX: ValueMix = ValueMix { from_search: 0.25 };
const BOTH: AuxiliaryHeads = AuxiliaryHeads { reply: true, swing: true };

/// All of them trained on, none held out.
fn filled(records: &[GameRecord], drawing: Drawing) -> Replay {
    let mut replay = Replay::new(&SECTION, 0.0, 5).drawing(drawing);
    for (ordinal, record) in records.iter().enumerate() {
        replay.add(ordinal as u64, record).expect("legal");
    }
    replay
}

/// A game from a position; each play was searched, fully where told, with all of the policy on the play made.
fn record(start: &str, plays: &[(&str, bool)], result: GameResult) -> GameRecord {
    let searched = |&(play, full): &(&str, bool)| RecordedPlay {
        p: play.to_owned(),
        s: Some(SearchRecord {
            n: 8,
            pi: vec![(play.to_owned(), POLICY_UNIT)],
            q: 0.0,
            v: 0.0,
            full,
            ckpt: 0,
            kl: None,
        }),
    };
    let plays = plays.iter().map(searched).collect();
    GameRecord {
        start: Some(start.to_owned()),
        result,
        plays,
        max_plays: 50,
        ..game("standard", 1, 0)
    }
}

fn replies(replay: &Replay) -> Vec<u16> {
    replay.train().samples().map(|(sample, _)| sample.reply).collect()
}

fn swings(replay: &Replay) -> Vec<Option<i16>> {
    replay.train().samples().map(|(sample, _)| sample.swing).collect()
}

/// White makes a row that takes a black piece and chooses what to remove; then Black's hand runs out, and White has won.
#[test]
fn targets_of_a_game_with_a_removal_and_an_end() {
    let start = "g2G/1GSSs/6/G5g/6/5/g2G 5,2 BB w m";
    let plays = [
        ("c1-c2", true),
        ("xc2,c4,c5,c6", true),
        ("d1-d2", true),
        ("f1-f2", true),
        ("d8-d7", false),
        ("f8-f7", true),
    ];
    let replay = filled(&[record(start, &plays, GameResult::White)], Drawing::default());
    // The entry's and the removal's reply is Black's entry; that of White's second turn was searched fast, and after its third
    // turn there is none. A decision that was searched fast has a reply all the same.
    assert_eq!(replies(&replay), [2, 1, 1, 0, 1, 0]);
    assert_eq!(swings(&replay), [1, 1, 0, 0, 0, 0].map(Some));
    // Stopped after three plays, nobody knows what the balance would have become.
    let stopped = record(start, &plays[..3], GameResult::Unfinished);
    let replay = filled(&[stopped], Drawing::default());
    assert_eq!((replies(&replay), swings(&replay)), (vec![2, 1, 0], vec![None; 3]));
}

/// White's push makes a black row: Black removes it in White's turn and takes the piece that pushed.
#[test]
fn a_reply_may_lie_in_the_same_turn_and_no_further_than_the_next() {
    let start = "g2G/sss1s/6/G5g/6/5/g2G 8,8 BB w m";
    let plays = [
        "c1-c2",
        "xc2,c3,c4,c5,c6",
        "d1-d2",
        "f1-f2",
        "d8-d7",
        "f8-f7",
        "g1-g2",
        "g7-g6",
        "c1-c2",
        "c7-c6",
    ];
    let plays = plays.map(|play| (play, true));
    let drawing = Drawing { auxiliary: BOTH, surprise: 0.0 };
    let mut replay = filled(&[record(start, &plays, GameResult::Unfinished)], drawing);
    // Black's removal is answered by its own turn, White's next decision is one turn too late.
    assert_eq!(replies(&replay)[..3], [1, 0, 1]);
    let swings = swings(&replay);
    assert_eq!(swings[..3], [Some(-1), Some(-1), Some(0)]);
    assert!(swings[3..].iter().all(Option::is_none), "the game was stopped: {swings:?}");
    // What is drawn is seen by the decider: White loses a piece, Black wins one.
    let mut drawn = Vec::new();
    replay.draw(200, MIX, &mut drawn);
    let of = |left: f32| {
        let there = drawn.iter().find(|label| label.plays_left == left).expect("drawn");
        (there.auxiliary.swing, there.auxiliary.reply.as_ref().map(|r| r.policy.clone()))
    };
    assert_eq!(of(10.0), (Some(-1.0), Some(vec![1.0])));
    assert_eq!(of(9.0), (Some(1.0), None));
    assert!(of(8.0).1.is_some_and(|policy| policy.iter().sum::<f32>() == 1.0));
}

/// The same index sets as those of the reply's own position on the same symmetric board.
#[test]
fn replies_lie_on_the_samples_board() {
    let games: Vec<GameRecord> =
        (0..6).map(|seq| game(["standard", "ultimate"][seq as usize % 2], seq, 200)).collect();
    let replay = filled(&games, Drawing::default());
    let samples: Vec<_> = replay.train().samples().collect();
    let sets = |index: &PolicyIndex| -> Vec<Vec<Vec<(u16, f32)>>> {
        let sorted = |terms: &[(u16, f32)]| {
            let mut terms = terms.to_vec();
            terms.sort_by_key(|&(index, _)| index);
            terms
        };
        let of_action = |action| {
            let mut groups: Vec<_> = index.groups_of(action).map(sorted).collect();
            groups.sort_by_key(|group| group.iter().map(|term| term.0).collect::<Vec<_>>());
            groups
        };
        (0..index.actions()).map(of_action).collect()
    };
    let (mut seen, mut other_sides) = (0, 0);
    for (place, (sample, _)) in samples.iter().enumerate().filter(|(_, (s, _))| s.reply > 0) {
        let (reply, policy) = samples[place + usize::from(sample.reply)];
        assert_ne!(reply.position.decider(), sample.position.decider());
        let side = place % 12;
        let mut labelled = Labelled::default();
        labelled.fill_auxiliary(BOTH, sample, Some((reply, policy)), side);
        let target = labelled.auxiliary.reply.take().expect("a reply");
        let mut actions: Vec<Play> = Vec::new();
        reply.position.actions(&mut actions);
        let symmetry = Symmetry::ALL[side];
        let image: Position = reply.position.transform(symmetry);
        for action in &mut actions {
            *action = reply.position.transform_play(symmetry, *action);
        }
        let mut index = PolicyIndex::new();
        index.fill(&image, &actions);
        assert_eq!(sets(&target.index), sets(&index));
        assert_eq!(target.policy.len(), policy.len());
        seen += 1;
        other_sides += u32::from(sample.position.decider() == Some(Color::Black));
        // What was not asked for is not there.
        labelled.fill_auxiliary(AuxiliaryHeads::NONE, sample, Some((reply, policy)), side);
        assert_eq!(labelled.auxiliary, gipf_model_torch::AuxiliaryTargets::default());
    }
    assert!(seen > 20 && other_sides > 5, "{seen} {other_sides}");
}

/// Random games whose full searches were surprised by so much: in every third game nothing is known of it, in every seventh nothing
/// surprised.
fn surprised(count: u64) -> Vec<GameRecord> {
    let with = |seq: u64| {
        let mut record = game("standard", seq, 50);
        let searches = record.plays.iter_mut().filter_map(|play| play.s.as_mut());
        for (number, search) in searches.enumerate() {
            let kl = if seq.is_multiple_of(7) { 0.0 } else { (number % 5) as f32 * 0.3 };
            search.kl = (seq % 3 != 1 && search.full).then_some(kl);
        }
        record
    };
    (0..count).map(with).collect()
}

#[test]
fn draws_come_as_often_as_surprise_says() {
    let records = surprised(24);
    for share in [0.0, 0.5, 1.0] {
        let mut replay = filled(&records, Drawing::default());
        // What is expected, from the records alone.
        let mut weights: Vec<f64> = Vec::new();
        for record in &records {
            let searches: Vec<_> = record.plays.iter().filter_map(|play| play.s.as_ref()).collect();
            let known = || searches.iter().filter_map(|search| search.kl).map(f64::from);
            let (n, sum) = (known().count() as f64, known().sum::<f64>());
            weights.extend(searches.iter().map(|search| match search.kl {
                Some(kl) if sum > 0.0 => (1.0 - share) + share * n * f64::from(kl) / sum,
                _ => 1.0,
            }));
        }
        assert_eq!(weights.len(), replay.train().len());
        assert!((weights.iter().sum::<f64>() - weights.len() as f64).abs() < 1e-6);
        assert!(share == 0.0 || weights.iter().any(|weight| *weight > 1.0 + share / 2.0));
        let draws = weights.len() * 300;
        let mut counts = vec![0_u32; weights.len()];
        for _ in 0..draws {
            let (place, _) = replay.train_mut().draw(12, share).expect("not empty");
            counts[place] += 1;
        }
        // Each count is binomial. Over all of them the squared deviations follow chi-square, whose deviation is sqrt(2 n).
        let (mut chi, mut cells) = (0.0, 0.0);
        for (&count, weight) in counts.iter().zip(&weights) {
            let expected = weight * 300.0;
            if expected == 0.0 {
                assert_eq!(count, 0, "nothing surprised, and all draws go by surprise");
                continue;
            }
            chi += (f64::from(count) - expected).powi(2) / expected;
            cells += 1.0;
        }
        let off = (chi - cells) / (2.0_f64 * cells).sqrt();
        assert!(off.abs() < 4.5, "share {share}: chi-square {chi:.0} over {cells} cells");
    }
}

/// Also in a window that older games have left, and that was rebuilt from the stored ones.
#[test]
fn draws_by_surprise_go_on_as_they_were() {
    let small = WindowSection { minimum: 300, maximum: 500, ..SECTION };
    let drawing = Drawing { auxiliary: BOTH, surprise: 0.6 };
    let folder = tempfile::tempdir().expect("a folder");
    let mut store =
        Store::open(folder.path(), StoreOptions::default(), DiskWait::default()).expect("opens");
    let records = surprised(40);
    store.append(&records).expect("appends");
    let mut replay = Replay::new(&small, 0.1, 5).drawing(drawing);
    let mut batch = Vec::new();
    for (ordinal, record) in records.iter().enumerate() {
        replay.add(ordinal as u64, record).expect("legal");
        replay.draw(5, MIX, &mut batch);
    }
    assert!(replay.train().made() > replay.train().len() as u64, "games have left");
    let state = replay.state();
    let again = Replay::rebuild(&small, 0.1, 5, &state, &store).expect("rebuilds");
    let mut again = again.drawing(drawing);
    // Both into new memory: what a sample keeps of an earlier filling, for the next one's use, is compared too.
    let (mut batch, mut other) = (Vec::new(), Vec::new());
    replay.draw(300, MIX, &mut batch);
    again.draw(300, MIX, &mut other);
    // Not assert_eq, which would print every plane of every sample.
    assert!(batch == other);
    assert!(batch.iter().any(|label| label.auxiliary.reply.is_some()));
    assert_eq!(replay.state(), again.state());
}
