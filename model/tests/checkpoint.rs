//! Checkpoints: what is written is read, and every kind of damage is named.

use std::collections::BTreeMap;
use std::path::Path;

use gipf_model::{
    Architecture, AuxiliaryHeads, Checkpoint, CheckpointError, CheckpointHeader,
    CheckpointProblem as Problem, DrawnMixes, Features, PlayerCard, PlayerRating, Tensor,
    TensorFile, WeightFormat, calibrate,
};
use tempfile::TempDir;

fn example() -> Checkpoint {
    let architecture =
        Architecture { value_channels: 2, value_hidden: 3, ..Architecture::new(1, 2) };
    let mut checkpoint = Checkpoint::initial(architecture, vec!["standard".to_owned()], "a run", 7)
        .expect("a checkpoint");
    checkpoint.header.step = 12;
    checkpoint.header.parent = Some("0123".to_owned());
    checkpoint
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn load(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
    Checkpoint::from_bytes("some.safetensors", bytes)
}

/// The problem, after checking that the error names the file in one line.
fn problem(bytes: &[u8]) -> Problem {
    let error = load(bytes).expect_err("is damaged");
    let text = error.to_string();
    assert!(
        text.starts_with("some.safetensors: ") && text.lines().count() == 1 && text.len() < 400,
        "{text}"
    );
    error.problem
}

/// The checkpoint's file with one thing changed and its header sealed anew.
fn changed(change: impl FnOnce(&mut serde_json::Value, &mut BTreeMap<String, Tensor>)) -> Vec<u8> {
    use sha2::Digest;
    let bytes = example().to_bytes().expect("bytes");
    let mut file = TensorFile::from_bytes("x", &bytes).expect("a tensor file");
    let mut header = serde_json::from_str(&file.metadata["gipf-checkpoint"]).expect("a header");
    change(&mut header, &mut file.tensors);
    let header = header.to_string();
    let hash: String = sha2::Sha256::digest(&header).iter().map(|b| format!("{b:02x}")).collect();
    file.metadata.insert("gipf-checkpoint".to_owned(), header);
    file.metadata.insert("gipf-checkpoint-sha256".to_owned(), hash);
    file.to_bytes()
}

#[test]
fn rounded_weights_take_half_the_file() {
    let whole = example();
    let rounded = whole.clone().rounded(WeightFormat::F16).expect("rounds");
    assert_eq!(load(&rounded.to_bytes().expect("bytes")).expect("loads"), rounded);
    assert_ne!(rounded.header.sha256, whole.header.sha256);
    for (name, tensor) in &whole.tensors {
        for (before, after) in tensor.data.iter().zip(&rounded.tensors[name].data) {
            let room = if tensor.shape.len() >= 2 { before.abs() / 2048.0 + 1e-7 } else { 0.0 };
            assert!((before - after).abs() <= room, "{name}: {before} became {after}");
        }
    }
    let large = Checkpoint::initial(Architecture::new(6, 48), Vec::new(), "a run", 1).expect("new");
    let bytes = |checkpoint: &Checkpoint| checkpoint.to_bytes().expect("bytes").len();
    let ratio = bytes(&large.clone().rounded(WeightFormat::F16).expect("rounds")) as f64
        / bytes(&large) as f64;
    assert!(ratio < 0.53, "{ratio}");
    // A network whose training went astray.
    let mut wild = whole;
    wild.tensors.get_mut("stem.conv.weight").expect("a tensor").data[0] = 1e6;
    let error = wild.rounded(WeightFormat::F16).expect_err("too large");
    assert!(matches!(error.problem, Problem::NotFinite(name) if name == "stem.conv.weight"));
}

/// The trained network of the tests, calibrated on some positions of a game.
fn trained() -> (Checkpoint, Vec<Features>) {
    let path = Path::new("../tests/data/checkpoints/standard-4x32.safetensors");
    let checkpoint = Checkpoint::load(path).expect("a checkpoint");
    let mut position = "standard".parse::<gipf_core::Rules>().expect("rules").start();
    let (mut positions, mut actions) = (Vec::new(), Vec::new());
    while positions.len() < 60 && position.decider().is_some() {
        position.actions(&mut actions);
        let mut features = Features::new();
        features.fill(&position, &actions);
        positions.push(features);
        position.play(actions[7 * positions.len() % actions.len()]);
    }
    let calibration = calibrate(&checkpoint, &positions);
    (checkpoint.with_calibration(calibration).expect("fits"), positions)
}

#[test]
fn int8_weights_take_a_third_of_the_file() {
    let (whole, positions) = trained();
    let small = whole.clone().rounded(WeightFormat::Int8).expect("rounds");
    let bytes = small.to_bytes().expect("bytes");
    let loaded = load(&bytes).expect("loads");
    assert_eq!(loaded, small);
    assert_eq!(loaded.to_bytes().expect("bytes"), bytes, "reading and writing changes nothing");
    let again = small.clone().rounded(WeightFormat::Int8).expect("rounds");
    assert_eq!(again, small, "rounding twice is rounding once");

    let large = Checkpoint::initial(Architecture::new(6, 64), Vec::new(), "a run", 1).expect("new");
    let calibration = calibrate(&large, &positions);
    let large = large.with_calibration(calibration).expect("fits");
    let length = |weights| {
        large.clone().rounded(weights).expect("rounds").to_bytes().expect("bytes").len() as f64
    };
    let ratio = length(WeightFormat::Int8) / length(WeightFormat::F32);
    assert!(ratio < 0.33, "{ratio}");

    let uncalibrated = example().rounded(WeightFormat::Int8).expect_err("no calibration");
    assert!(matches!(uncalibrated.problem, Problem::Uncalibrated));
}

#[test]
fn a_card_says_who_a_player_is() {
    let mut checkpoint = example();
    checkpoint.header.mixes =
        vec![DrawnMixes { variant: "standard".to_owned(), punct_convert: false }];
    let rating = PlayerRating {
        elo: 120,
        interval: [80, 161],
        anchor: "greedy".to_owned(),
        rules: "standard".to_owned(),
        limit: "64 nodes a decision".to_owned(),
    };
    assert_eq!(
        rating.to_string(),
        "+120 Elo (+80 to +161) above greedy, standard, 64 nodes a decision"
    );
    checkpoint.header.card = Some(PlayerCard {
        name: "someone".to_owned(),
        licence: "MIT".to_owned(),
        rating: Some(rating),
    });
    let checkpoint = Checkpoint::new(checkpoint.header, checkpoint.tensors).expect("a checkpoint");
    assert_eq!(load(&checkpoint.to_bytes().expect("bytes")).expect("loads"), checkpoint);
}

#[test]
fn how_weights_are_stored_is_what_the_header_says() {
    for weights in ["f16", "int8"] {
        let claimed = changed(|header, _| header["weights"] = weights.into());
        assert!(matches!(problem(&claimed), Problem::Header(text) if text.contains("stored")));
    }
    let unknown = changed(|header, _| header["weights"] = "f8".into());
    assert!(matches!(problem(&unknown), Problem::Header(text) if text.contains("f8")));
}

#[test]
fn round_trip() {
    let folder = folder();
    let path = folder.path().join("step-12.safetensors");
    let checkpoint = example();
    checkpoint.save(&path).expect("saves");
    let loaded = Checkpoint::load(&path).expect("loads");
    assert_eq!(loaded, checkpoint);
    assert_eq!(Checkpoint::load_header(&path).expect("loads"), checkpoint.header);
    assert_eq!(std::fs::read(&path).expect("reads"), checkpoint.to_bytes().expect("bytes"));
    checkpoint.save(&path).expect("saves over it");
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("lists").count(),
        1,
        "no temporary file is left"
    );
    assert_eq!(loaded.header.sha256.len(), 64);
}

#[test]
fn every_truncation_and_every_flipped_byte_is_an_error() {
    let bytes = example().to_bytes().expect("bytes");
    assert!(load(&bytes).is_ok());
    for len in (0..bytes.len()).step_by(17).chain(bytes.len() - 9..bytes.len()) {
        problem(&bytes[..len]);
    }
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    for at in (0..header + 64).chain((header + 64..bytes.len()).step_by(31)) {
        for flip in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            problem(&damaged);
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    problem(&longer);
}

#[test]
fn what_is_wrong_is_named() {
    assert!(matches!(problem(b"hello"), Problem::File(_)));
    assert!(matches!(problem(&[0xff; 100]), Problem::File(_)));
    assert!(matches!(problem(&TensorFile::default().to_bytes()), Problem::Foreign(_)));
    assert!(load(&changed(|_, _| ())).is_ok(), "the changes below are what is refused");

    let version = |key: &'static str, value: serde_json::Value| {
        problem(&changed(move |header, _| header[key] = value))
    };
    assert!(matches!(
        version("format", "gipf-checkpoint-2".into()),
        Problem::Version { what: "checkpoint format", .. }
    ));
    assert!(matches!(
        version("features_version", 999.into()),
        Problem::Version { what: "features version", .. }
    ));
    assert!(matches!(
        version("policy_version", 999.into()),
        Problem::Version { what: "policy map version", .. }
    ));
    assert!(matches!(version("step", "twelve".into()), Problem::Header(_)));
    assert!(matches!(version("colour", 1.into()), Problem::Header(_)));
    assert!(matches!(version("sha256", "00".into()), Problem::Checksum { .. }));

    let blocks =
        |n: u64| problem(&changed(move |header, _| header["architecture"]["blocks"] = n.into()));
    assert!(matches!(blocks(2), Problem::Missing(name) if name.starts_with("blocks.1.")));
    assert!(matches!(blocks(0), Problem::Architecture(_)));
    assert!(matches!(blocks(1 << 60), Problem::Architecture(_)));
    let channels = problem(&changed(|header, _| header["architecture"]["channels"] = 3.into()));
    assert!(matches!(channels, Problem::Shape { name, .. } if name == "stem.conv.weight"));
    let extra = problem(&changed(|_, tensors| {
        tensors.insert("zebra".to_owned(), Tensor { shape: vec![1], data: vec![0.0] });
    }));
    assert!(matches!(extra, Problem::Unknown(name) if name == "zebra"));
    let missing = problem(&changed(|_, tensors| {
        tensors.remove("policy.bn.mean");
    }));
    assert!(matches!(missing, Problem::Missing(name) if name == "policy.bn.mean"));
    let other = problem(&changed(|_, tensors| tensors.values_mut().for_each(|t| t.data[0] += 1.0)));
    assert!(matches!(other, Problem::Checksum { .. }));
}

/// A calibration is optional; it survives the file, its seal covers it, and one of another network is refused.
#[test]
fn a_calibration_goes_with_the_network() {
    let plain = example();
    let calibrated = plain
        .clone()
        .with_calibration(calibrate(&plain, &[Features::new()]))
        .expect("fits its network");
    assert_ne!(calibrated.header.sha256, plain.header.sha256);
    assert_eq!(calibrated.tensors, plain.tensors);
    let bytes = calibrated.to_bytes().expect("bytes");
    assert_eq!(load(&bytes).expect("loads"), calibrated);
    assert_eq!(load(&plain.to_bytes().expect("bytes")).expect("loads").calibration, None);

    let file = TensorFile::from_bytes("x", &bytes).expect("a tensor file");
    let name = "calibration.largest";
    assert_eq!(file.tensors[name].shape, [3, 2]);
    let with = |tensor: Tensor| {
        let sealed = TensorFile { tensors: file.tensors.clone(), ..TensorFile::default() };
        let mut tensors = sealed.tensors;
        tensors.insert(name.to_owned(), tensor);
        let sha256 =
            TensorFile { tensors: tensors.clone(), ..TensorFile::default() }.tensors_sha256();
        changed(move |header, found| {
            header["sha256"] = sha256.into();
            *found = tensors;
        })
    };
    assert!(
        load(&with(file.tensors[name].clone())).is_ok(),
        "the changes below are what is refused"
    );
    assert!(matches!(
        problem(&with(Tensor { shape: vec![2], data: vec![1.0; 2] })),
        Problem::Calibration(_)
    ));
    for number in [-1.0, f32::NAN, f32::INFINITY] {
        let mut tensor = file.tensors[name].clone();
        tensor.data[1] = number;
        assert!(matches!(problem(&with(tensor)), Problem::Calibration(_)));
    }
    let other = Checkpoint::initial(Architecture::new(2, 2), Vec::new(), "x", 1).expect("another");
    assert!(plain.with_calibration(calibrate(&other, &[])).is_err());
}

#[test]
fn auxiliary_heads_are_kept_or_left_out() {
    let plain = example();
    let plain =
        plain.clone().with_calibration(calibrate(&plain, &[Features::new()])).expect("fits");
    let header = plain.to_bytes().expect("bytes");
    let file = TensorFile::from_bytes("x", &header).expect("a tensor file");
    let is_told = |file: &TensorFile| file.metadata["gipf-checkpoint"].contains("auxiliary");
    assert!(!is_told(&file), "what has none says what it said before there were any");
    for (reply, swing, added) in [(true, true, 6), (true, false, 4), (false, true, 2)] {
        let mut with = plain.clone();
        let auxiliary = AuxiliaryHeads { reply, swing };
        with.header.architecture = plain.header.architecture.with_auxiliary(auxiliary);
        // A header that promises heads needs their tensors, and no other may bring them.
        assert!(matches!(
            with.to_bytes().expect_err("tensors are missing").problem,
            Problem::Missing(name) if name.starts_with("auxiliary.")
        ));
        with.tensors = with.header.architecture.initial_tensors(7).into_iter().collect();
        assert_eq!(with.tensors.len(), plain.tensors.len() + added);
        let bytes = with.to_bytes().expect("bytes");
        let loaded = load(&bytes).expect("loads");
        assert_eq!(loaded.header.architecture.auxiliary, auxiliary);
        assert_eq!(loaded.tensors, with.tensors);
        assert!(is_told(&TensorFile::from_bytes("x", &bytes).expect("a tensor file")));
        // What it has stays, what it lacks is new: that of another seed.
        let all = loaded
            .clone()
            .with_auxiliary(AuxiliaryHeads { reply: true, swing: true }, 8)
            .expect("all heads");
        let new = all.header.architecture.initial_tensors(8).into_iter();
        for (name, new) in new.filter(|(name, _)| name.starts_with("auxiliary.")) {
            assert_eq!(all.tensors[&name], *loaded.tensors.get(&name).unwrap_or(&new), "{name}");
        }
        assert_eq!(all.with_auxiliary(auxiliary, 9).expect("some heads"), loaded);
        let again = loaded.without_auxiliary().expect("a network without them");
        assert_eq!(again, plain);
        assert_eq!(again.to_bytes().expect("bytes"), header);
        with.header.architecture = plain.header.architecture;
        assert!(matches!(
            with.to_bytes().expect_err("tensors too many").problem,
            Problem::Unknown(_)
        ));
    }
    assert_eq!(plain.clone().without_auxiliary().expect("the same"), plain);
}

#[test]
fn numbers_that_are_not_finite_are_neither_written_nor_read() {
    let mut checkpoint = example();
    checkpoint.tensors.get_mut("value.bn.var").expect("is there").data[0] = f32::NAN;
    let folder = folder();
    let path = folder.path().join("x");
    let error = checkpoint.save(&path).expect_err("is refused");
    assert!(matches!(error.problem, Problem::NotFinite(name) if name == "value.bn.var"));
    assert!(!path.exists());
    let header = CheckpointHeader::new(checkpoint.header.architecture, Vec::new(), 0, "x");
    assert!(Checkpoint::new(header, checkpoint.tensors).is_err());
}

#[test]
fn paths_that_cannot_be() {
    let folder = folder();
    for path in
        [folder.path().to_owned(), folder.path().join("none/x"), folder.path().join("absent")]
    {
        let error = Checkpoint::load(&path).expect_err("no file");
        assert!(matches!(error.problem, Problem::File(_)));
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
    assert!(example().save(&folder.path().join("none/x")).is_err());
    assert!(example().save(Path::new("/")).is_err());
}

/// A file that claims a large network but does not hold it costs no memory: its length is looked at first.
#[test]
fn a_header_cannot_make_the_reader_allocate() {
    let header =
        br#"{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    assert!(matches!(problem(&bytes), Problem::File(_)));
}
