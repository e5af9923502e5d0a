//! Making, resuming and saving a run; its lock; what a kill leaves.

use super::*;
use crate::config::{LoadedConfig, parse_settings};
use crate::faults;
use crate::store::DiskWait;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TEXT: &str =
    "# kept byte for byte\n[run]\nname = \"t\"\nminutes = 10\n[train]\nlearning_rate = 0.001\n";

fn load(folder: &Path, name: &str, text: &str, sets: &[&str]) -> LoadedConfig {
    let path = folder.join(name);
    fs::write(&path, text).expect("writes");
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    LoadedConfig::load(&path, &sets).expect("good")
}

fn sets(texts: &[&str]) -> Vec<crate::config::Setting> {
    parse_settings(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).expect("good")
}

fn save(run: &mut RunFolder, step: u64) -> Result<(), RunError> {
    run.state.step = step;
    run.save_point(
        |path| fs::write(path, format!("checkpoint {step}")),
        |path| fs::write(path, format!("learner {step}")),
    )
}

#[test]
fn a_run_comes_back_as_it_was_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &["train.batch_size=64"]);
    let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
    run.state.tokens = 0.1 + 0.2;
    run.state.seconds = 1.0 / 3.0;
    run.state.games = 7;
    save(&mut run, 12).expect("saves");
    let state = run.state.clone();
    assert!(RunFolder::holds_run(&dir));
    drop(run);
    let run = RunFolder::resume(&dir, Some(&loaded), &[], DiskWait::default()).expect("resumes");
    assert_eq!(run.state, state);
    assert_eq!(run.config().train.batch_size, 64, "an override stays in force");
    assert_eq!(fs::read_to_string(dir.join("config.toml")).expect("reads"), TEXT);
    assert_eq!(fs::read_to_string(run.learner_path(12)).expect("reads"), "learner 12");
    assert!(matches!(
        run.open_store(),
        Err(crate::store::StoreError::GamesLost { found: 0, counted: 7, .. })
    ));
    drop(run);
    assert!(matches!(
        RunFolder::create(&dir, &loaded, DiskWait::default()),
        Err(RunError::Exists(_))
    ));
}

#[test]
fn a_changed_file_is_named_key_by_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
    save(&mut run, 5).expect("saves");
    drop(run);
    let text = TEXT.replace("0.001", "0.002").replace("minutes = 10", "minutes = 30.0");
    let other = load(folder.path(), "b.toml", &text, &[]);
    let error = RunFolder::resume(&dir, Some(&other), &[], DiskWait::default())
        .expect_err("differs")
        .to_string();
    let expected = format!(
        "{} differs from the run in {}: run.minutes: 10.0 in the run, 30.0 in the file; train.learning_rate: 0.001 in the run, 0.002 in the file; change the run with --set KEY=VALUE, or begin a new one with --run",
        other.path.display(),
        dir.display()
    );
    assert_eq!(error, expected);
    // Comments and the order of the keys are no difference.
    let same = load(
        folder.path(),
        "c.toml",
        "[train]\nlearning_rate = 1e-3\n[run]\nminutes = 10.0\nname = \"t\"\n",
        &[],
    );
    drop(RunFolder::resume(&dir, Some(&same), &[], DiskWait::default()).expect("the same"));
    // Overrides of the keys that differ make the change, and are logged with the step.
    let change = sets(&["train.learning_rate=0.002", "run.minutes=30", "train.batch_size=256"]);
    let run = RunFolder::resume(&dir, Some(&other), &change, DiskWait::default()).expect("changes");
    assert_eq!(run.config().train.learning_rate, 0.002);
    let logged: Vec<_> =
        run.settings().iter().map(|set| (set.step, set.setting().to_string())).collect();
    assert_eq!(
        logged,
        [(5, "train.learning_rate=0.002".to_owned()), (5, "run.minutes=30".to_owned())]
    );
    drop(run);
    // From now on both the first file and the changed one are this run's.
    for file in [&loaded, &other] {
        let run = RunFolder::resume(&dir, Some(file), &[], DiskWait::default()).expect("resumes");
        assert_eq!(run.config().train.learning_rate, 0.002);
    }
}

#[test]
fn what_is_settled_stays_settled() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    drop(RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes"));
    let error =
        RunFolder::resume(&dir, None, &sets(&["network.architecture=6x64"]), DiskWait::default());
    assert!(matches!(error, Err(RunError::Fixed { key: "network.architecture", .. })));
    let same =
        RunFolder::resume(&dir, None, &sets(&["network.architecture=4x32"]), DiskWait::default());
    assert!(same.expect("no change").settings().is_empty());
}

#[test]
fn other_folders_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    let created = RunFolder::create(folder.path(), &loaded, DiskWait::default());
    assert!(matches!(created, Err(RunError::Foreign { other, .. }) if other == "a.toml"));
    let resumed = RunFolder::resume(folder.path(), None, &[], DiskWait::default());
    assert!(matches!(resumed, Err(RunError::NoRun(_))));
}

#[test]
fn old_checkpoints_go_but_for_the_first_the_best_and_the_newest() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &["checkpoints.keep=2"]);
    let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
    for step in [0, 10, 20, 30, 40, 50] {
        if step == 30 {
            run.state.best = Some(10);
        }
        save(&mut run, step).expect("saves");
    }
    let steps: Vec<_> =
        list_checkpoints(&run.checkpoints()).expect("lists").iter().map(|file| file.step).collect();
    assert_eq!(steps, [0, 10, 40, 50]);
    let learners: Vec<_> =
        list_checkpoints(&dir.join("learner")).expect("lists").iter().map(|f| f.step).collect();
    assert_eq!(learners, [50]);
    let view = RunView::open(&dir).expect("reads while the run is held");
    assert_eq!((view.state.best, view.checkpoints().expect("lists").len()), (Some(10), 4));
    drop(run);
    fs::remove_file(dir.join("learner").join(checkpoint_name(50))).expect("removes");
    let error = RunFolder::resume(&dir, None, &[], DiskWait::default());
    assert!(matches!(error, Err(RunError::Missing { .. })));
}

/// The best is the accepted one, else the strongest by the ratings that is still there, else the newest.
#[test]
fn the_best_checkpoint_has_one_meaning() {
    use crate::ratings::{RATINGS_FORMAT, RatedLimit, RatedPlayer, RatingsFile};
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
    for step in [0, 10, 20] {
        save(&mut run, step).expect("saves");
    }
    let best = || RunView::open(&dir).expect("reads").best_step().expect("a step");
    assert_eq!(best(), 20);
    let player = |step: Option<u64>, elo: f64| RatedPlayer {
        name: "a player".to_owned(),
        player: "a player".to_owned(),
        step,
        seconds: None,
        games_made: None,
        elo: Some(elo),
        low: Some(elo),
        high: Some(elo),
        games: 2,
        score: 0.5,
    };
    let ratings = RatingsFile {
        format: RATINGS_FORMAT.to_owned(),
        rules: "standard".to_owned(),
        limit: RatedLimit::Nodes(8),
        seed: 1,
        anchor: "step 0".to_owned(),
        white_advantage: Default::default(),
        players: vec![
            player(None, 900.0),
            player(Some(15), 500.0),
            player(Some(10), 300.0),
            player(Some(20), 200.0),
        ],
        pairings: Vec::new(),
        games: 0,
    };
    ratings.write(&dir, &DiskWait::default()).expect("writes");
    assert_eq!(best(), 10, "step 15 is gone, and the player of 900 is no checkpoint");
    // What changes between save points leaves the rest of the state alone.
    (run.state.best, run.state.judged, run.state.step) = (Some(0), Some(20), 27);
    run.save_best().expect("writes");
    assert_eq!(best(), 0);
    let state = RunView::open(&dir).expect("reads").state;
    assert_eq!((state.step, state.judged), (20, Some(20)));
    fs::write(dir.join("ratings.json"), "{}").expect("writes");
    assert_eq!(best(), 0);
}

#[test]
fn a_run_without_its_state_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
    save(&mut run, 7).expect("saves");
    drop(run);
    fs::remove_file(dir.join("state.json")).expect("removes");
    for part in ["all", "config.toml", "settings.jsonl", "games", "checkpoints"] {
        let path = dir.join(part);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("removes");
        } else if path.exists() {
            fs::remove_file(path).expect("removes");
        }
        let error = RunFolder::create(&dir, &loaded, DiskWait::default()).expect_err("refused");
        assert!(matches!(error, RunError::LostState { .. }), "{error}");
        assert_eq!(error.to_string().contains("--init"), part != "checkpoints", "{error}");
    }
    let file = folder.path().join("a.toml");
    assert!(matches!(RunFolder::check_place(&file), Err(RunError::NotFolder(_))));
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    drop(RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes"));
    let path = dir.join("state.json");
    let text = fs::read_to_string(&path).expect("reads");
    for (bad, wanted) in [
        (text[..text.len() / 2].to_owned(), "is damaged"),
        (text.replace("\"step\": 0", "\"step\": -1"), "is damaged"),
        (text.replace(STATE_FORMAT, "gipf-run-9"), "has format \"gipf-run-9\""),
        (text.replace("\"step\": 0,", ""), "is damaged"),
    ] {
        fs::write(&path, &bad).expect("writes");
        let error = RunFolder::resume(&dir, None, &[], DiskWait::default())
            .expect_err("refused")
            .to_string();
        assert!(error.contains(wanted) && !error.contains('\n'), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("reads"), bad);
    }
}

fn helper(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "--ignored", "--nocapture", name]);
    command
        .env("GIPF_TEST_FOLDER", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Not a test of its own: holds a run until its input ends.
#[test]
#[ignore = "runs inside two_processes_cannot_share_a_run"]
fn helper_holds_a_run() {
    let Ok(dir) = std::env::var("GIPF_TEST_FOLDER") else { return };
    let _run =
        RunFolder::resume(Path::new(&dir), None, &[], DiskWait::default()).expect("takes it");
    println!("\nheld");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn two_processes_cannot_share_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let loaded = load(folder.path(), "a.toml", TEXT, &[]);
    drop(RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes"));
    let mut other = helper("run::tests::helper_holds_a_run", &dir).spawn().expect("starts");
    let output = BufReader::new(other.stdout.take().expect("piped"));
    assert!(
        output.lines().map_while(Result::ok).any(|line| line == "held"),
        "the other process did not start"
    );
    let error =
        RunFolder::resume(&dir, None, &[], DiskWait::default()).expect_err("in use").to_string();
    let expected = format!(
        "{} is in use by process {}: only one process can work in a run folder",
        dir.display(),
        other.id()
    );
    assert_eq!(error, expected);
    assert!(RunView::open(&dir).is_ok(), "reading needs no lock");
    // However the other one ends, its lock ends with it.
    other.kill().expect("kills");
    other.wait().expect("ends");
    assert!(RunFolder::resume(&dir, None, &[], DiskWait::default()).is_ok());
}

/// Not a test of its own: saves step after step until it is killed.
#[test]
#[ignore = "runs inside killed_in_a_save_point_the_run_goes_on_from_a_whole_one"]
fn helper_saves_until_killed() {
    let Ok(dir) = std::env::var("GIPF_TEST_FOLDER") else { return };
    let mut run =
        RunFolder::resume(Path::new(&dir), None, &[], DiskWait::default()).expect("resumes");
    for step in run.state.step + 1..50 {
        save(&mut run, step).expect("saves");
        println!("saved {step}");
    }
}

#[test]
fn killed_in_a_save_point_the_run_goes_on_from_a_whole_one() {
    let parts = ["checkpoint.", "learner.", "state."];
    for point in
        faults::POINTS.iter().filter(|point| parts.iter().any(|part| point.starts_with(part)))
    {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("run");
        let loaded = load(folder.path(), "a.toml", TEXT, &[]);
        let mut run = RunFolder::create(&dir, &loaded, DiskWait::default()).expect("makes");
        save(&mut run, 0).expect("saves");
        drop(run);
        for count in [1, 3] {
            let output = helper("run::tests::helper_saves_until_killed", &dir)
                .env(faults::VARIABLE, format!("{point}:{count}"))
                .output()
                .expect("runs");
            assert!(output.status.code().is_none(), "{point}:{count} did not kill");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let told: Option<u64> = text
                .lines()
                .filter_map(|line| line.strip_prefix("saved ")?.parse().ok())
                .next_back();
            let run = RunFolder::resume(&dir, None, &[], DiskWait::default()).expect("resumes");
            let step = run.state.step;
            assert!(
                told.is_none_or(|told| step >= told),
                "{point}:{count} lost step {told:?}: it is at {step}"
            );
            assert_eq!(
                fs::read_to_string(run.checkpoint_path(step)).expect("reads"),
                format!("checkpoint {step}")
            );
            assert_eq!(
                fs::read_to_string(run.learner_path(step)).expect("reads"),
                format!("learner {step}")
            );
            let newest = list_checkpoints(&run.checkpoints()).expect("lists").pop().expect("one");
            assert_eq!(newest.step, step, "a cut-off save point leaves no checkpoint");
            assert_eq!(leftovers(&dir), Vec::<PathBuf>::new());
        }
    }
}

fn leftovers(dir: &Path) -> Vec<PathBuf> {
    [dir.to_owned(), dir.join("checkpoints"), dir.join("learner")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("reads").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".tmp"))
        .collect()
}
