//! A network as an ONNX file for other runtimes: opset 17, any batch, with everything in its metadata that a program needs to use it
//! (docs/ONNX.md).

mod example;
mod graph;
mod network;
mod proto;

use gipf_core::Spot;
use gipf_model::{Checkpoint, EvalError, POLICY_PLANES, global_names, plane_name, plane_names};
use prost::Message;
use serde_json::{Value, json};

use network::{Network, cell};
use proto::{ModelProto, OperatorSetIdProto, StringStringEntryProto};

/// The version of this layout: inputs, outputs, metadata.
pub const ONNX_FORMAT: &str = "gipf-onnx-1";
/// The version of ONNX's operators.
const OPSET: i64 = 17;
/// The version of ONNX's messages.
const IR_VERSION: i64 = 8;

/// The bytes of a checkpoint's network as an ONNX file. Auxiliary heads are left out.
///
/// # Errors
/// The network cannot be evaluated for the worked example.
pub fn to_onnx(checkpoint: &Checkpoint) -> Result<Vec<u8>, EvalError> {
    let example = example::worked_example(checkpoint)?;
    let metadata_props = metadata(checkpoint, example)
        .into_iter()
        .map(|(key, value)| StringStringEntryProto { key: key.to_owned(), value })
        .collect();
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "gipf".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: "A player of GIPF: see the metadata, and docs/ONNX.md of the project"
            .to_owned(),
        graph: Some(Network::graph(checkpoint).finish()),
        opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: OPSET }],
        metadata_props,
    };
    Ok(model.encode_to_vec())
}

/// What the file says of itself, key by key; all but the first three are JSON.
fn metadata(checkpoint: &Checkpoint, example: Value) -> Vec<(&'static str, String)> {
    let header = &checkpoint.header;
    let planes = plane_names().to_vec();
    let globals = global_names();
    let policy: Vec<String> = (0..POLICY_PLANES).map(plane_name).collect();
    let name = |spot: &Spot| (spot.to_string(), cell(*spot));
    let spots: Vec<(String, usize)> = Spot::ALL.iter().map(name).collect();
    let policy = json!({
        "planes": policy,
        "others": ["skip of an extra move", "decline of a removal", "challenge", "pass"],
        "index": "plane * 37 + spot, spots in the order of 'spots'; the others come after all planes",
        "logit": "an entry: its plane at the first spot; a potential's move: its plane at the source; a removal: the mean of its orientation's plane \
                  over the spots of the line, plus the last plane at each spot that is taken by choice; a removal that two lines share: the \
                  logarithm of the sum of the exponentials of both; then softmax over the legal plays",
    });
    vec![
        ("format", ONNX_FORMAT.to_owned()),
        ("architecture", header.architecture.to_string()),
        ("sha256", header.sha256.clone()),
        ("features_version", header.features_version.to_string()),
        ("policy_version", header.policy_version.to_string()),
        ("rules", json!(header.rules).to_string()),
        ("mixes", json!(header.mixes).to_string()),
        ("card", json!(header.card).to_string()),
        ("step", header.step.to_string()),
        ("run", json!(header.run).to_string()),
        ("spots", json!(spots).to_string()),
        ("planes", json!(planes).to_string()),
        ("globals", json!(globals).to_string()),
        ("policy", policy.to_string()),
        ("example", example.to_string()),
    ]
}
