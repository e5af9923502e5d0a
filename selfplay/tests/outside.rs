//! Programs from outside, well-behaved and not: small shell scripts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gipf_core::{Play, Position, Rules};
use gipf_selfplay::{
    Budget, BuiltIn, Contestant, GameState, Limit, Match, MatchConfig, OutsideConfig,
    OutsidePlayer, Player, PlayerError, RandomKey, Timer,
};

/// A program that does `on_go` at every `go` (`$line` is the line), and says what it must before.
fn script(on_go: &str) -> String {
    format!(
        "sh -c 'while read -r line; do case \"$line\" in \
         ugi) echo id name script; echo option name Rules type string; echo option name Seed; echo ugiok;; \
         isready) echo readyok;; go*) {on_go};; quit) exit 0;; esac; done'"
    )
}

fn config() -> OutsideConfig {
    OutsideConfig {
        ready: Duration::from_secs(20),
        hang: Duration::from_millis(400),
        grace: Duration::from_millis(300),
        ..OutsideConfig::new("standard".parse().unwrap())
    }
}

fn start(command: &str) -> OutsidePlayer {
    OutsidePlayer::start(command, config()).unwrap()
}

/// A decision after some plays of a standard game.
fn choose(player: &mut OutsidePlayer, plays: &[&str], budget: &Budget<'_>) -> Result<Play, String> {
    let rules: Rules = "standard".parse().unwrap();
    let mut position = rules.start();
    let plays: Vec<Play> = plays.iter().map(|play| play.parse().unwrap()).collect();
    plays.iter().for_each(|&play| position.try_play(play).unwrap());
    let key = RandomKey { seed: 1, game: 0 };
    let game = GameState { position: &position, plays: &plays, max_plays: 500, key };
    player.choose(&game, budget).map(|choice| choice.play).map_err(|error| {
        assert!(matches!(error, PlayerError::Forfeit(_)), "{error:?}");
        error.to_string()
    })
}

/// Whether a process still runs; one that has ended and was not waited for counts too.
fn exists(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

/// Waits until a process has gone; a killed one needs a moment, and its parent may have to be reaped by others.
fn goes(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(5);
    while exists(pid) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    !exists(pid)
}

#[test]
fn every_fault_is_told_and_forfeits_the_game() {
    let cases = [
        ("exit 3", "exited with status 3"),
        ("kill -9 $$", "was ended by signal 9"),
        ("exec >&-; sleep 60", "closed its output"),
        ("sleep 60", "gave no bestmove within 0.4 s"),
        ("while :; do echo info; done", "gave no bestmove within 0.4 s"),
        ("echo bestmove xyzzy", "answered 'xyzzy', which is no play"),
        ("echo bestmove", "answered '', which is no play"),
        ("echo bestmove xe5", "answered the illegal play 'xe5'"),
        ("echo bestmove e1-e3", "answered 'e1-e3', which is no play"),
        ("printf \"bestmove \\033[2J\\n\"", "answered '\\u{1b}[2J', which is no play"),
        ("cat /dev/zero", "wrote a line of more than 64 KiB"),
    ];
    for (on_go, fault) in cases {
        let mut player = start(&script(on_go));
        let error = choose(&mut player, &[], &Budget::nodes(5)).unwrap_err();
        assert!(error.starts_with("'sh -c ") && error.ends_with(fault), "{on_go}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
    let mut player = start(&script("sleep 1; echo bestmove e1-e2"));
    let timer = Timer::new(Some(Duration::from_millis(100)));
    let error = choose(&mut player, &[], &Budget::time(&timer)).unwrap_err();
    assert!(error.ends_with("gave no bestmove within 0.4 s"), "{error}");
}

#[test]
fn a_program_is_started_anew_after_a_forfeit() {
    // Exits at its second `go` of each life.
    let mut player = start(&script("echo bestmove e1-e2; on=$((on+1)); [ $on -lt 2 ] || exit 7"));
    let budget = Budget::nodes(5);
    assert_eq!(choose(&mut player, &[], &budget), Ok("e1-e2".parse().unwrap()));
    assert_eq!(choose(&mut player, &[], &budget), Ok("e1-e2".parse().unwrap()));
    let error = choose(&mut player, &[], &budget).unwrap_err();
    assert!(error.ends_with("exited with status 7"), "{error}");
    assert_eq!(choose(&mut player, &[], &budget), Ok("e1-e2".parse().unwrap()));
}

#[test]
fn nothing_is_left_behind() {
    let folder = std::env::temp_dir().join(format!("gipf-outside-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let pids = folder.join("pids");
    let shown = pids.display();
    // The script's own number and a child's, which would go on for an hour.
    let command = script(&format!("sleep 3600 & echo $$ $! > {shown}; wait"));
    let mut player = start(&command);
    choose(&mut player, &[], &Budget::nodes(5)).unwrap_err();
    let numbers = fs::read_to_string(&pids).unwrap();
    for pid in numbers.split_whitespace() {
        assert!(goes(pid), "process {pid} is left");
    }
    // A program that does not hear `quit`, dropped in the middle of a game.
    let mut player =
        start(&script(&format!("echo $$ > {shown}; echo bestmove e1-e2; trap : TERM; sleep 3600")));
    choose(&mut player, &[], &Budget::nodes(5)).unwrap();
    let pid = fs::read_to_string(&pids).unwrap();
    assert!(exists(pid.trim()));
    drop(player);
    assert!(!exists(pid.trim()), "a dropped player's program is waited for");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn programs_that_cannot_play_are_told_at_the_start() {
    let quick = OutsideConfig { ready: Duration::from_millis(300), ..config() };
    let refuses = "sh -c 'read -r line; echo ugiok; read -r line; echo info string error no such rules; echo readyok; read -r line'";
    for (command, words) in [
        ("no-such-program-here --fast", "cannot start 'no-such-program-here --fast': "),
        ("", "'' is no command line"),
        ("\"\" x", "'\"\" x' is no command line"),
        ("sh -c 'open", "'sh -c 'open' is no command line"),
        ("sh -c 'exit 5'", "'sh -c 'exit 5'' exited with status 5"),
        ("cat", "'cat' gave no ugiok within 0.3 s"),
        (refuses, "rules standard: no such rules"),
    ] {
        let error = OutsidePlayer::start(command, quick.clone()).err().unwrap().to_string();
        assert!(error.contains(words) && error.lines().count() == 1, "{command}: {error}");
    }
    let other = OutsideConfig { rules: "basic".parse().unwrap(), ..config() };
    let error =
        OutsidePlayer::start("sh -c 'echo ugiok; echo readyok; sleep 9'", other).err().unwrap();
    assert!(error.to_string().ends_with("rules basic: it has no option Rules"), "{error}");
}

#[test]
fn a_stopped_clock_stops_the_program() {
    let mut player = start(&script("read -r line; [ \"$line\" = stop ] && echo bestmove e1-e2"));
    let stop = AtomicBool::new(false);
    let timer = Timer::new(None).stopped_by(&stop);
    let budget = Budget { nodes: Some(1), ..Budget::time(&timer) };
    let play = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        choose(&mut player, &[], &budget)
    });
    assert_eq!(play, Ok("e1-e2".parse().unwrap()));
}

#[test]
fn what_it_is_told() {
    let folder = std::env::temp_dir().join(format!("gipf-outside-talk-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("log");
    let command = format!(
        "sh -c 'while read -r line; do echo \"$line\" >> {}; case \"$line\" in \
         ugi) echo option name Rules type string; echo option name MaxPlays type spin; echo option name Seed type spin; echo ugiok;; \
         isready) echo bestmove i9-i9; echo readyok;; go*) echo info depth 1; echo bestmove c1-d2;; esac; done'",
        log.display()
    );
    let mut player = start(&command);
    let timer = Timer::new(Some(Duration::from_millis(5_000)));
    // d2 is empty: all its ways in are the action `c1-d2`.
    assert_eq!(choose(&mut player, &[], &Budget::nodes(9)), Ok("c1-d2".parse().unwrap()));
    choose(&mut player, &["e1-e2", "i4-h5"], &Budget { depth: Some(3), ..Budget::time(&timer) })
        .unwrap();
    player.new_game();
    choose(&mut player, &[], &Budget::default()).unwrap();
    // A game that does not begin at the start of its rules.
    let rules: Rules = "tournament".parse().unwrap();
    let text = "4/5/6/7/6/5/3G 16,18 GG b m";
    let position = Position::parse(&rules, text).unwrap();
    let key = RandomKey { seed: 2, game: 3 };
    let game = GameState { position: &position, plays: &[], max_plays: 60, key };
    assert!(player.choose(&game, &Budget::depth(2)).is_err(), "only a GIPF-piece may be entered");
    drop(player);
    let said = fs::read_to_string(&log).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let mut lines: Vec<&str> = said.lines().filter(|line| *line != "isready").collect();
    let seeds: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| line.starts_with("setoption name Seed value "))
        .collect();
    assert_eq!(seeds[0], seeds[1], "the same game has the same seed");
    assert_ne!(seeds[0], seeds[2]);
    lines.retain(|line| !line.starts_with("setoption name Seed"));
    let time = lines.iter_mut().find(|line| line.starts_with("go depth 3 movetime ")).unwrap();
    let milliseconds: u64 = time.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((4_000..=5_000).contains(&milliseconds), "{time}");
    *time = "go depth 3 movetime";
    assert_eq!(
        lines,
        [
            "ugi",
            "setoption name Rules value standard",
            "setoption name MaxPlays value 500",
            "uginewgame",
            "position startpos",
            "go nodes 9",
            "position startpos moves e1-e2 i4-h5",
            "go depth 3 movetime",
            "uginewgame",
            "position startpos",
            "go movetime 1000",
            "setoption name Rules value tournament",
            "setoption name MaxPlays value 60",
            "uginewgame",
            &format!("position fen {text}"),
            "go depth 2",
        ]
    );
}

#[test]
fn a_match_loses_the_faulty_games_only() {
    // Plays the first legal play it knows of nowhere: dies at its third decision of a life, and answers e1-e2 before, which is
    // legal at the start of a game and soon is not.
    let player = start(&script("on=$((on+1)); [ $on -lt 3 ] || exit 1; echo bestmove e1-e2"));
    let config = MatchConfig { games: 6, ..MatchConfig::new("standard".parse().unwrap(), 4) };
    let pair = [
        Contestant::player(Box::new(player), Limit::nodes(1)),
        Contestant::built_in(BuiltIn::Greedy, Limit::default()),
    ];
    let mut reasons = Vec::new();
    let result = Match::new(config, vec![pair], None)
        .unwrap()
        .run(&|| false, &mut |_| {}, &mut |game| reasons.extend(game.record.forfeit))
        .unwrap();
    assert_eq!(result.games, 6);
    assert_eq!(result.sides[0].forfeits, 6);
    assert_eq!(result.sides[1].forfeits, 0);
    assert_eq!(result.b_wins, [3, 3]);
    assert!(
        reasons.iter().all(|reason| reason.ends_with("exited with status 1")
            || reason.ends_with("answered the illegal play 'e1-e2'")),
        "{reasons:?}"
    );
}
