//! Samples as arrays for Python: a `.npz` file that numpy reads as it is, with a description of every array in it.

use std::io::{Seek, Write};

use gipf_core::Spot;
use gipf_model::{
    FEATURES_VERSION, GLOBALS, PLANES, POLICY_VERSION, global_names, plane_name, plane_names,
};
use ndarray::{Array1, Array2, ArrayBase, Data, Dimension};
use ndarray_npy::{WritableElement, WriteNpyExt};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::window::Labelled;

/// The version of these arrays.
pub const ARRAYS_FORMAT: &str = "gipf-arrays-1";

/// Why arrays cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ArraysError {
    /// The archive.
    #[error(transparent)]
    Zip(#[from] zip::result::ZipError),
    /// An array.
    #[error(transparent)]
    Array(#[from] ndarray_npy::WriteNpyError),
    /// The file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Each array's name and what it is, for `n` samples with `a` actions, `g` groups and `t` terms together.
const ARRAYS: [(&str, &str); 15] = [
    ("game", "[n] int64: the number of the sample's game, from 0"),
    ("planes", "[n, PLANES] uint64: binary planes as bitboards; spot s is bit spot_bits[s]"),
    ("globals", "[n, GLOBALS] float32: numbers of the whole position"),
    (
        "value",
        "[n, 3] float32: probabilities of win, loss, unfinished to learn, for the side that decides",
    ),
    ("value_weight", "[n] float32: 0 where the value is no target"),
    ("plays_left", "[n] float32: plays to the end of the game"),
    ("plays_left_weight", "[n] float32: 0 where it is no target"),
    ("policy_weight", "[n] float32: 0 where the policy is no target"),
    (
        "action_start",
        "[n + 1] int64: sample i has the actions action_start[i] to action_start[i + 1]",
    ),
    ("policy", "[a] float32: the probability of each action to learn, 0 without a target"),
    (
        "group_start",
        "[a + 1] int64: action j has the groups group_start[j] to group_start[j + 1], one or two; its logit is their logsumexp",
    ),
    (
        "term_start",
        "[g + 1] int64: group k has the terms term_start[k] to term_start[k + 1]; its logit is the sum of weight times logit",
    ),
    (
        "term_logit",
        "[t] int16: index among the network's logits, plane * 37 + spot, then the four others",
    ),
    ("term_weight", "[t] float32: its weight"),
    ("spot_bits", "[37] int64: the bit of each spot in a bitboard"),
];

/// Writes samples, each with the number of its game, as a `.npz` file. Beside the arrays it holds `description.json`, which names every
/// array, plane and global; `about` says where the samples come from.
///
/// # Errors
/// The file cannot be written.
pub fn write_npz(
    samples: &[(i64, Labelled)],
    about: Value,
    file: impl Write + Seek,
) -> Result<(), ArraysError> {
    let mut archive = Archive(zip::ZipWriter::new(file));
    let n = samples.len();
    let number = |of: fn(&Labelled) -> f32| -> Array1<f32> {
        samples.iter().map(|(_, sample)| of(sample)).collect()
    };
    archive.array("game", &samples.iter().map(|(game, _)| *game).collect::<Array1<i64>>())?;
    let features = |at: usize| &samples[at].1.features;
    let planes = Array2::from_shape_fn((n, PLANES), |(at, plane)| features(at).planes[plane].0);
    archive.array("planes", &planes)?;
    let globals = Array2::from_shape_fn((n, GLOBALS), |(at, global)| features(at).globals[global]);
    archive.array("globals", &globals)?;
    let value = Array2::from_shape_fn((n, 3), |(at, outcome)| samples[at].1.value[outcome]);
    archive.array("value", &value)?;
    archive.array("value_weight", &number(|sample| sample.value_weight))?;
    archive.array("plays_left", &number(|sample| sample.plays_left))?;
    archive.array("plays_left_weight", &number(|sample| sample.plays_left_weight))?;
    archive.array("policy_weight", &number(|sample| sample.policy_weight))?;
    policies(samples, &mut archive)?;
    let bits: Array1<i64> = Spot::ALL.iter().map(|spot| i64::from(spot.bit())).collect();
    archive.array("spot_bits", &bits)?;
    archive.text("description.json", &description(about))?;
    archive.0.finish()?;
    Ok(())
}

/// The arrays of the policy: actions, groups and terms of all samples, one after the other.
fn policies<W: Write + Seek>(
    samples: &[(i64, Labelled)],
    archive: &mut Archive<W>,
) -> Result<(), ArraysError> {
    let (mut action_start, mut group_start, mut term_start) = (vec![0], vec![0], vec![0]);
    let (mut policy, mut term_logit, mut term_weight) = (Vec::new(), Vec::new(), Vec::new());
    let mut groups = 0_i64;
    for (_, sample) in samples {
        let index = &sample.features.policy;
        for action in 0..index.actions() {
            for terms in index.groups_of(action) {
                groups += 1;
                for &(logit, weight) in terms {
                    term_logit.push(logit as i16);
                    term_weight.push(weight);
                }
                term_start.push(term_logit.len() as i64);
            }
            group_start.push(groups);
        }
        policy.extend_from_slice(&sample.policy);
        action_start.push(policy.len() as i64);
    }
    archive.array("action_start", &Array1::<i64>::from(action_start))?;
    archive.array("policy", &Array1::from(policy))?;
    archive.array("group_start", &Array1::<i64>::from(group_start))?;
    archive.array("term_start", &Array1::<i64>::from(term_start))?;
    archive.array("term_logit", &Array1::<i16>::from(term_logit))?;
    archive.array("term_weight", &Array1::from(term_weight))
}

fn description(about: Value) -> String {
    let arrays: serde_json::Map<String, Value> =
        ARRAYS.iter().map(|&(name, words)| (name.to_owned(), words.into())).collect();
    let policy: Vec<String> = (0..gipf_model::POLICY_PLANES).map(plane_name).collect();
    let described = json!({
        "format": ARRAYS_FORMAT,
        "about": about,
        "features_version": FEATURES_VERSION,
        "policy_version": POLICY_VERSION,
        "arrays": arrays,
        "spots": Spot::ALL.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "planes": plane_names().to_vec(),
        "globals": global_names(),
        "policy_planes": policy,
        "policy_others": ["skip of an extra move", "decline of a removal", "challenge", "pass"],
    });
    format!("{described:#}\n")
}

/// The archive under construction.
struct Archive<W: Write + Seek>(zip::ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    fn array<A, D, S>(&mut self, name: &str, array: &ArrayBase<S, D>) -> Result<(), ArraysError>
    where
        A: WritableElement,
        D: Dimension,
        S: Data<Elem = A>,
    {
        debug_assert!(ARRAYS.iter().any(|(known, _)| *known == name), "{name} is described");
        self.begin(&format!("{name}.npy"))?;
        Ok(array.write_npy(&mut self.0)?)
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), ArraysError> {
        self.begin(name)?;
        Ok(self.0.write_all(text.as_bytes())?)
    }

    fn begin(&mut self, name: &str) -> Result<(), ArraysError> {
        // Arrays of more than 4 GB need the larger form of the archive's entries.
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(true);
        Ok(self.0.start_file(name, options)?)
    }
}
