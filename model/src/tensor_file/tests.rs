use super::*;

fn example() -> TensorFile {
    let tensor = |shape: &[usize], start: f32| Tensor {
        shape: shape.to_vec(),
        data: (0..shape.iter().product::<usize>()).map(|i| start + i as f32).collect(),
    };
    TensorFile {
        metadata: BTreeMap::from([
            ("b".to_owned(), "x\"y".to_owned()),
            ("a".to_owned(), String::new()),
        ]),
        tensors: BTreeMap::from([
            ("two".to_owned(), tensor(&[2, 3], 0.5)),
            ("one".to_owned(), tensor(&[1], f32::MIN_POSITIVE)),
            ("none".to_owned(), tensor(&[0, 4], 0.0)),
            ("small".to_owned(), tensor(&[3], -1.0)),
            ("smallest".to_owned(), tensor(&[2, 128], -128.0)),
        ]),
        formats: BTreeMap::from([
            ("small".to_owned(), NumberFormat::F16),
            ("smallest".to_owned(), NumberFormat::I8),
        ]),
    }
}

#[test]
fn round_trip_and_equal_bytes() {
    let file = example();
    let bytes = file.to_bytes();
    assert_eq!(bytes, example().to_bytes());
    assert_eq!(TensorFile::from_bytes("x", &bytes).expect("reads"), file);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.safetensors");
    file.write(&path).expect("writes");
    file.write(&path).expect("writes over");
    assert_eq!(TensorFile::read(&path, 1 << 20).expect("reads"), file);
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("lists").count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn the_safetensors_crate_reads_it() {
    let bytes = example().to_bytes();
    let read = safetensors::SafeTensors::deserialize(&bytes).expect("reads");
    let two = read.tensor("two").expect("is there");
    assert_eq!(two.shape(), &[2, 3]);
    assert_eq!(&two.data()[4..8], 1.5f32.to_le_bytes());
}

#[test]
fn a_half_is_rounded_to_the_nearest() {
    let data = vec![1.0 + 2f32.powi(-11) + 2f32.powi(-14), -0.1, 65504.0, 2f32.powi(-24)];
    let file = TensorFile {
        tensors: BTreeMap::from([("a".to_owned(), Tensor { shape: vec![4], data })]),
        formats: BTreeMap::from([("a".to_owned(), NumberFormat::F16)]),
        ..TensorFile::default()
    };
    let read = TensorFile::from_bytes("x", &file.to_bytes()).expect("reads");
    assert_eq!(
        read.tensors["a"].data,
        [1.0 + 2f32.powi(-10), -0.099_975_586, 65504.0, 2f32.powi(-24)]
    );
    assert_eq!(read.to_bytes(), file.to_bytes());
}

#[test]
fn hash_is_that_of_the_bytes_after_the_header() {
    let file = example();
    let bytes = file.to_bytes();
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    assert_eq!(file.tensors_sha256(), hex(&Sha256::digest(&bytes[8 + header..])));
    let (_, hash) = TensorReader::new(&bytes[..], bytes.len() as u64)
        .and_then(|r| r.read_all(1 << 20))
        .expect("reads");
    assert_eq!(hash, file.tensors_sha256());
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = example().to_bytes();
    for len in 0..bytes.len() {
        assert!(TensorFile::from_bytes("x", &bytes[..len]).is_err(), "{len}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(TensorFile::from_bytes("x", &longer).is_err());
}

#[test]
fn foreign_files_and_limits() {
    let problem = |bytes: &[u8]| TensorFile::from_bytes("x", bytes).map_err(|e| e.problem);
    assert!(matches!(problem(b""), Err(TensorFileProblem::Foreign(_))));
    assert!(matches!(
        problem(b"PK\x03\x04 a zip file of some sort"),
        Err(TensorFileProblem::Foreign(_))
    ));
    assert!(matches!(problem(&u64::MAX.to_le_bytes()), Err(TensorFileProblem::Foreign(_))));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    example().write(&path).expect("writes");
    let error = TensorFile::read(&path, 8).expect_err("too large");
    assert!(matches!(error.problem, TensorFileProblem::TooLarge { found: 290, limit: 8 }));
    assert!(error.to_string().contains(&path.display().to_string()));
    assert!(matches!(
        TensorFile::read(folder.path(), 8).map_err(|e| e.problem),
        Err(TensorFileProblem::Io(_))
    ));
    let typed = br#"{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}  "#;
    let mut bytes = (typed.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(typed);
    bytes.extend_from_slice(&[0; 4]);
    assert!(matches!(problem(&bytes), Err(TensorFileProblem::Type { .. })));
}
