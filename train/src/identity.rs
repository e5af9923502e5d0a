//! What makes two pieces of work one: settings written down beside the games, and compared when they go on.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The first entry in which what was found differs from what is wanted, as `its seed is 1, not 2`. Both are written as JSON
/// objects with the same keys.
pub fn difference<T: Serialize>(wanted: &T, found: &T) -> Option<String> {
    let [wanted, found] = [wanted, found].map(|settings| serde_json::to_value(settings).ok());
    let (Some(Value::Object(wanted)), Some(Value::Object(found))) = (wanted, found) else {
        return None;
    };
    wanted.iter().find_map(|(key, wanted)| {
        let found = found.get(key).unwrap_or(&Value::Null);
        (found != wanted).then(|| format!("its {key} is {found}, not {wanted}"))
    })
}

/// A worker's nonce for records: 32 hexadecimal digits that follow from all of a text.
pub fn nonce(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A seed that follows from all of a text.
pub fn seed(text: &str) -> u64 {
    Sha256::digest(text).iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
