//! Golden lines of configuration errors, overrides, differences, and the presets.

use super::*;
use gipf_selfplay::RulesEntry;
use std::path::{Path, PathBuf};

fn error(text: &str) -> String {
    match parse(text, "a.toml", &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

fn set_error(setting: &str) -> String {
    match parse_settings(&[setting.to_owned()]) {
        Ok(_) => panic!("accepted: {setting}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_key_line_and_cure() {
    let golden = [
        (
            "[run]\nseed = 1\n\n[self_play]\nlane = 3\n",
            "a.toml: unknown key \"self_play.lane\" at line 5: did you mean \"lanes\"?",
        ),
        (
            "[selfplay]\nlanes = 3\n",
            "a.toml: unknown key \"selfplay\" at line 1: did you mean \"self_play\"?",
        ),
        (
            "batch_size = 3\n",
            "a.toml: unknown key \"batch_size\" at line 1: did you mean \"train.batch_size\"?",
        ),
        (
            "[self_play]\nbatch_size = 3\n",
            "a.toml: unknown key \"self_play.batch_size\" at line 2: did you mean \"train.batch_size\"?",
        ),
        (
            "[report]\nzzzzzzzzzzzzzzzzzz = 3\n",
            "a.toml: unknown key \"report.zzzzzzzzzzzzzzzzzz\" at line 2: the keys of [report] are games, simulations",
        ),
        (
            "[self_play]\nlanes = \"many\"\n",
            "a.toml: self_play.lanes at line 2 is \"many\": expected a whole number: 1 to 65536 (games)",
        ),
        (
            "[self_play]\nlanes = 0\n",
            "a.toml: self_play.lanes at line 2 is 0: allowed are 1 to 65536 (games)",
        ),
        (
            "[self_play]\nlanes = -4\n",
            "a.toml: self_play.lanes at line 2 is -4: allowed are 1 to 65536 (games)",
        ),
        (
            "[self_play]\nlanes = 1.5\n",
            "a.toml: self_play.lanes at line 2 is 1.5: expected a whole number: 1 to 65536 (games)",
        ),
        (
            "[self_play]\nlanes = 99999999999999999999\n",
            "a.toml: self_play.lanes at line 2 is 99999999999999999999: allowed are 1 to 65536 (games)",
        ),
        (
            "[train]\nlearning_rate = nan\n",
            "a.toml: train.learning_rate at line 2 is nan: allowed are 0.000001 to 1",
        ),
        (
            "[train]\ndecay = \"linear\"\n",
            "a.toml: train.decay at line 2 is \"linear\": allowed are \"constant\" or \"cosine\"",
        ),
        (
            "[run]\ndeterministic = 1\n",
            "a.toml: run.deterministic at line 2 is 1: expected true or false",
        ),
        (
            "[run]\ndevice = \"gpu\"\n",
            "a.toml: run.device at line 2 is \"gpu\": allowed are \"cpu\", \"cuda\", \"cuda:N\" or \"auto\"",
        ),
        (
            "[network]\narchitecture = \"4*32\"\n",
            "a.toml: network.architecture at line 2 is \"4*32\": allowed are \"1x8\" to \"64x1024\" (blocks x channels)",
        ),
        (
            "[rules]\nrules = [{ rules = \"standard\", wieght = 2 }]\n",
            "a.toml: unknown key \"rules.rules[0].wieght\" at line 2: did you mean \"weight\"?",
        ),
        (
            "[rules]\nrules = [{ rules = \"standard\", weight = 0 }]\n",
            "a.toml: rules.rules[0].weight at line 2 is 0: allowed are 0.000001 to 1000000",
        ),
        (
            "[rules]\nrules = [{ weight = 1 }]\n",
            "a.toml: rules.rules[0] at line 2 is { weight = 1 }: an entry needs rules = \"...\" or mixes = { ... }",
        ),
        (
            "[rules]\nrules = [{ rules = \"basic\", mixes = {} }]\n",
            "a.toml: rules.rules[0] at line 2 is { rules = \"basic\", mixes = {} }: an entry has either rules or mixes",
        ),
        (
            "[rules]\nrules = [{ mixes = \"T4\" }]\n",
            "a.toml: rules.rules[0].mixes at line 2 is \"T4\": expected a table { variant, kinds, total, per_kind, unequal, basic, punct }",
        ),
        (
            "[rules]\nrules = [\n  { rules = \"basic\" },\n  { mixes = { kind = [1, 3] } },\n]\n",
            "a.toml: unknown key \"rules.rules[1].mixes.kind\" at line 4: did you mean \"kinds\"?",
        ),
        (
            "[rules]\nrules = [{ mixes = { kinds = 3 } }]\n",
            "a.toml: rules.rules[0].mixes.kinds at line 2 is 3: expected two whole numbers, [least, most]",
        ),
        (
            "[rules]\nrules = [{ mixes = { kinds = [0, 3] } }]\n",
            "a.toml: rules.rules[0].mixes.kinds at line 2 is [0, 3]: allowed are 1 to 5",
        ),
        (
            "[rules]\nrules = [{ mixes = { variant = \"ultimate\" } }]\n",
            "a.toml: rules.rules[0].mixes.variant at line 2 is \"ultimate\": allowed are \"basic\", \"standard\" or \"tournament\"",
        ),
        (
            "[rules]\nrules = [{ mixes = { total = [8, 12] } }]\n",
            "a.toml: rules.rules[0].mixes.total at line 2 is [8, 12]: a mix of 1 (from kinds) with 1 to 6 each (from per_kind) has 1 to 6",
        ),
        (
            "[rules]\nrules = [{ mixes = { per_kind = [1, 3] } }]\n",
            "a.toml: rules.rules[0].mixes at line 2 is { per_kind = [1, 3] }: total is [4, 12]: a mix of 1 (from kinds) with 1 to 3 each (from per_kind) has 1 to 3",
        ),
        (
            "[rules]\nrules = [{ mixes = { unequal = 1.5 } }]\n",
            "a.toml: rules.rules[0].mixes.unequal at line 2 is 1.5: allowed are 0 to 1",
        ),
        (
            "[rules]\nrules = [{ mixes = { basic = 300 } }]\n",
            "a.toml: rules.rules[0].mixes.basic at line 2 is 300: standard allows 18 to 21",
        ),
        (
            "[run]\nseed = \n",
            "a.toml, line 2, is not valid TOML: string values must be quoted, expected literal string",
        ),
        ("run = 3\n", "a.toml: run at line 1 is 3: expected a section, written [run]"),
        (
            "[self_play]\nfast_simulations = 65\n",
            "a.toml: self_play.fast_simulations is 65, more than self_play.simulations = 64: a fast search is the smaller one",
        ),
        (
            "[run]\ndeterministic = true\n",
            "a.toml: run.deterministic is true without a limit: set run.steps or run.games",
        ),
        (
            "[gating]\nmode = \"on\"\n",
            "a.toml: gating.mode at line 2 is \"on\": allowed are \"off\" or \"sprt\"",
        ),
        (
            "[gating]\nelo1 = -5\n",
            "a.toml: gating.elo0 is 0, not less than gating.elo1 = -5: the test is between the two",
        ),
        (
            "[gating]\ngames = 31\n",
            "a.toml: gating.games is 31: it must be even, for each opening is played twice, colours swapped",
        ),
        (
            "[report]\ngames = 3\n",
            "a.toml: report.games is 3: it must be even, for each opening is played twice, colours swapped",
        ),
    ];
    for (text, line) in golden {
        assert_eq!(error(text), line);
    }
}

#[test]
fn a_bad_rules_string_names_its_part() {
    let line = error("[rules]\nrules = \"standrad\"\n");
    assert!(line.starts_with("a.toml: rules.rules at line 2 is \"standrad\": "), "{line}");
    assert!(!line.contains('\n'));
    let line = error("[rules]\nrules = \"standard+T6;challenge=recorded\"\n");
    assert!(
        line.ends_with("recorded side games are for people at a board, a run cannot play them"),
        "{line}"
    );
    for architecture in ["04x32", "4x032", "65x32", "4x4", "+4x32", "4x32-nopool"] {
        let text = format!("[network]\narchitecture = \"{architecture}\"\n");
        assert!(error(&text).ends_with("allowed are \"1x8\" to \"64x1024\" (blocks x channels)"));
    }
}

#[test]
fn a_missing_file_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("other.toml"), "").expect("a file");
    let path = folder.path().join("quickstrat.toml");
    let line = LoadedConfig::load(&path, &[]).expect_err("no such file").to_string();
    assert!(
        line.starts_with("cannot read ")
            && line.ends_with("holds other.toml")
            && !line.contains('\n'),
        "{line}"
    );
}

#[test]
fn what_cannot_be_a_config_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.toml");
    let line = || LoadedConfig::load(&path, &[]).expect_err("refused").to_string();
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).expect("a file");
    assert!(line().ends_with("it is longer than 1048576 bytes, so it is no configuration"));
    std::fs::write(&path, b"\xFF").expect("a file");
    assert!(line().ends_with("it is no UTF-8 text"));
    std::fs::write(&path, "[run]\n[train]\n").expect("a file");
    assert_eq!(LoadedConfig::load(&path, &[]).expect("good").keys_set(), 0);
}

#[test]
fn overrides_are_checked_like_the_file() {
    let golden = [
        (
            "train.batch",
            "--set train.batch: expected KEY=VALUE, for example --set train.batch_size=512",
        ),
        (
            "train.bach_size=3",
            "--set: unknown key \"train.bach_size\" at \"train.bach_size=3\": did you mean \"batch_size\"?",
        ),
        (
            "train.batch_size=x",
            "--set: train.batch_size at \"train.batch_size=x\" is x: expected a whole number: 1 to 65536 (samples)",
        ),
        (
            "train.batch_size=0",
            "--set: train.batch_size at \"train.batch_size=0\" is 0: allowed are 1 to 65536 (samples)",
        ),
        (
            "train.batch_size=",
            "--set: train.batch_size at \"train.batch_size=\" is empty: expected a whole number: 1 to 65536 (samples)",
        ),
    ];
    for (setting, line) in golden {
        assert_eq!(set_error(setting), line);
    }
}

#[test]
fn overrides_change_what_they_name() {
    let texts =
        ["network.architecture=6x64", "run.minutes=3", "run.device=\"cpu\"", "rules.rules=basic"];
    let settings = parse_settings(&texts.map(str::to_owned)).expect("good overrides");
    let config = parse("[run]\nminutes = 10\nsteps = 7\n", "a.toml", &settings).expect("good");
    assert_eq!(config.network.architecture, "6x64");
    assert_eq!((config.run.minutes, config.run.steps), (3.0, 7));
    assert_eq!(config.run.device, "cpu");
    assert_eq!(config.rules.rules, [RulesEntry::fixed("basic")]);
    assert_eq!(apply(&Config::default(), &settings).expect("good").network.architecture, "6x64");
    assert_eq!(fixed_keys(&settings), ["network.architecture"]);
}

#[test]
fn a_network_can_only_grow() {
    let with =
        |text: &str| format!("[network]\narchitecture = \"4x32\"\n{text}\n[run]\nsteps = 9\n");
    for size in ["6x64", "4x33", "5x32", ""] {
        let config = parse(&with(&format!("grow_to = \"{size}\"")), "a.toml", &[]).expect("good");
        assert_eq!(config.network.grown_size().expect("a size").is_some(), !size.is_empty());
    }
    for size in ["4x32", "6x31", "3x64"] {
        let said = error(&with(&format!("grow_to = \"{size}\"")));
        let words = format!(
            "network.grow_to is \"{size}\", which is not larger than network.architecture = \"4x32\""
        );
        assert!(said.contains(&words), "{said}");
    }
    assert_eq!(
        error(&with("grow_to = \"6*64\"")),
        "a.toml: network.grow_to at line 3 is \"6*64\": allowed are \"\" or \"1x8\" to \"64x1024\" (blocks x channels)"
    );
    let said = error("[network]\ngrow_to = \"6x64\"\n");
    assert!(said.contains("but the run has none"), "{said}");
    let settings =
        parse_settings(&["network.grow_to=".to_owned()]).expect("nothing is a size here");
    assert_eq!(settings[0].value, "\"\"");
}

#[test]
fn differences_are_named_key_by_key() {
    let run = parse("[train]\nlearning_rate = 0.001\n", "a.toml", &[]).expect("good");
    let file = parse("[train]\nlearning_rate = 0.002\n[rules]\nrules = \"basic\"\n", "b.toml", &[])
        .expect("good");
    let lines: Vec<_> = diff(&run, &file).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "rules.rules: \"standard\" in the run, \"basic\" in the file",
            "train.learning_rate: 0.001 in the run, 0.002 in the file"
        ]
    );
    assert!(diff(&run, &run).is_empty());
}

#[test]
fn rules_are_compared_in_canonical_form() {
    let one = parse("[rules]\nrules = \"standard:18\"\n", "a.toml", &[]).expect("good");
    assert_eq!(one, Config::default());
}

/// Drawn mixes come back from a run's own file as they were written.
#[test]
fn mixes_survive_being_written() {
    let text = "[rules]\nrules = [{ rules = \"standard:18\", weight = 2 }, { mixes = { variant = \"tournament\", kinds = [1, 3], total = [4, 12], per_kind = [1, 6], unequal = 0.25, punct = \"convert\", basic = 21 }, weight = 3 }]\n";
    let config = parse(text, "a.toml", &[]).expect("good");
    let weights: Vec<f64> = config.rules.rules.iter().map(RulesEntry::weight).collect();
    assert_eq!(weights, [2.0, 3.0]);
    let written = toml::to_string(&config).expect("serializes");
    assert_eq!(parse(&written, "b.toml", &[]).expect("good"), config, "{written}");
    let setting =
        format!("rules.rules={}", text.trim_end().trim_start_matches("[rules]\nrules = "));
    let settings = parse_settings(&[setting]).expect("a good override");
    assert_eq!(apply(&Config::default(), &settings).expect("good"), config);
    assert_eq!(diff(&Config::default(), &config).len(), 1);
}

#[test]
fn the_table_and_the_sections_hold_the_same_keys() {
    let table = toml::Table::try_from(Config::default()).expect("serializes");
    let mut names = Vec::new();
    for (section, keys) in &table {
        let keys = keys.as_table().expect("a section");
        names.extend(keys.keys().map(|key| format!("{section}.{key}")));
    }
    names.sort();
    let mut known: Vec<_> = KEYS.iter().map(|key| key.name.to_owned()).collect();
    known.sort();
    assert_eq!(names, known);
    let text = toml::to_string(&Config::default()).expect("serializes");
    assert_eq!(parse(&text, "defaults", &[]).expect("defaults are allowed"), Config::default());
}

#[test]
fn the_rate_warms_up_and_falls() {
    let train = TrainSection {
        warmup_steps: 10,
        learning_rate: 1.0,
        final_fraction: 0.1,
        ..TrainSection::default()
    };
    assert!((train.learning_rate_at(0, 0.0) - 0.1).abs() < 1e-12);
    assert!((train.learning_rate_at(9, 0.0) - 1.0).abs() < 1e-12);
    assert!((train.learning_rate_at(100, 0.5) - 0.55).abs() < 1e-12);
    assert!((train.learning_rate_at(100, 1.0) - 0.1).abs() < 1e-12);
    assert!((train.learning_rate_at(100, 7.0) - 0.1).abs() < 1e-12);
}

/// The presets that come with the project.
fn presets() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of presets")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_preset_is_there_and_parses() {
    let names: Vec<_> =
        presets().iter().map(|path| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(
        names,
        [
            "basic.toml",
            "gpu.toml",
            "potentials.toml",
            "quickstart.toml",
            "standard.toml",
            "tournament.toml",
            "ultimate.toml"
        ]
    );
    for path in presets() {
        let loaded = LoadedConfig::load(&path, &[]).expect("a good preset");
        assert_eq!(loaded.config.run.name, path.file_stem().expect("a name").to_string_lossy());
    }
}

/// Every preset states every key, and the comment beside it gives unit and range.
#[test]
fn every_key_of_every_preset_is_commented() {
    for path in presets() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let mut section = "";
        let mut stated = Vec::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
                section = name;
            } else if let Some((leaf, rest)) =
                line.split_once(" = ").filter(|_| !line.starts_with(['#', ' ']))
            {
                let name = format!("{section}.{leaf}");
                let key = Key::find(&name).unwrap_or_else(|| panic!("{}: {name}", path.display()));
                let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
                let file = path.display();
                assert!(
                    comment.contains(&key.range()),
                    "{file}: {name} does not state {:?}: {line}",
                    key.range()
                );
                assert!(
                    comment.contains(key.unit),
                    "{file}: {name} does not state {:?}: {line}",
                    key.unit
                );
                stated.push(name);
            }
        }
        let known: Vec<_> = KEYS.iter().map(|key| key.name.to_owned()).collect();
        assert_eq!(stated, known, "{}", path.display());
    }
}
