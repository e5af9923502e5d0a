//! The replay window's memory is flat. A process of its own, for it measures itself.

use gipf_core::record::GameRecord;
use gipf_train::config::WindowSection;
use gipf_train::window::Replay;

#[path = "../src/test_games.rs"]
mod test_games;

/// Resident memory of this process in bytes; none where the system does not say.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

fn games() -> Vec<GameRecord> {
    (0..300).map(|seq| test_games::game("standard", seq, 300)).collect()
}

/// Adds games, over and over under new ids, until so many samples came.
fn fill(replay: &mut Replay, games: &mut [GameRecord], samples: u64) {
    while replay.train().made() < samples {
        let ordinal = replay.games();
        let index = ordinal as usize % games.len();
        games[index].id.seq = ordinal;
        replay.add(ordinal, &games[index]).expect("a legal game");
    }
}

#[test]
fn memory_stays_flat_when_the_window_is_overfilled_three_times() {
    let mut games = games();
    let Some(before) = resident() else {
        eprintln!("SKIPPED: this system has no /proc/self/status");
        return;
    };
    let maximum = 80_000;
    let section = WindowSection { minimum: 1000, growth_scale: 1.0, growth_exponent: 1.0, maximum };
    let mut replay = Replay::new(&section, 0.05, 1);
    fill(&mut replay, &mut games, maximum + 2_000);
    let full = resident().expect("as before") - before;
    let bytes = replay.train().bytes();
    for times in 2..=4 {
        fill(&mut replay, &mut games, times * maximum);
        assert!(
            replay.train().len() as u64 <= maximum && replay.train().len() as u64 > maximum - 300
        );
        let now = resident().expect("as before") - before;
        println!(
            "{times} times: {} samples, {:.1} MB resident, {:.1} MB counted, {:.0} bytes a sample",
            replay.train().len(),
            now as f64 / 1e6,
            replay.train().bytes() as f64 / 1e6,
            replay.train().bytes() as f64 / replay.train().len() as f64,
        );
        assert!(now as f64 <= full as f64 * 1.05, "{now} bytes resident after {full}");
        assert!(replay.train().bytes() as f64 <= bytes as f64 * 1.05);
    }
    // What is counted is what is there.
    assert!(full as f64 >= 0.9 * bytes as f64, "{full} bytes resident, {bytes} counted");
}
