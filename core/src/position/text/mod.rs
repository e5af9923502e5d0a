//! Position texts, read and written (rules, section 10).

pub(super) mod check;
mod read;
mod write;

use super::Position;
use crate::rules::Rules;

/// A position text that is none, or that the rules do not allow; the message names the part at
/// fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("position, {part}: {fault}")]
pub struct TextError {
    /// The part: board, hands, stages, mover, phase, detail, whole text, or bytes.
    pub part: &'static str,
    /// What is wrong with it.
    pub fault: String,
}

/// Texts are cut in messages; no position is longer than this.
const MAX_TEXT: usize = 600;

/// Longest message: it may quote the text.
const MAX_FAULT: usize = 200;

fn fault<T>(part: &'static str, fault: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { part, fault: fault.into().chars().take(MAX_FAULT).collect() })
}

impl Position {
    /// Reads a position text; its `Display` writes exactly the same text again.
    ///
    /// # Errors
    /// A text of another form, or a position that the rules cannot mean: too many pieces, a phase
    /// without a decision, a game that would be over.
    pub fn parse(rules: &Rules, text: &str) -> Result<Position, TextError> {
        if text.len() > MAX_TEXT {
            return fault("whole text", format!("longer than {MAX_TEXT} characters"));
        }
        let parts: Vec<&str> = text.split(' ').collect();
        let (board, hands, stages, mover, phase, detail) = match *parts.as_slice() {
            [board, hands, stages, mover, phase] => (board, hands, stages, mover, phase, None),
            [board, hands, stages, mover, phase, detail] => {
                (board, hands, stages, mover, phase, Some(detail))
            }
            _ if parts.contains(&"") => {
                return fault("whole text", "parts are separated by single spaces");
            }
            _ => {
                let n = parts.len();
                return fault(
                    "whole text",
                    format!("BOARD HANDS STAGES MOVER PHASE [DETAIL] expected, {n} parts found"),
                );
            }
        };
        let mut position = Position::empty(rules);
        read::board(&mut position, board)?;
        read::hands(&mut position, hands)?;
        read::stages(&mut position, stages)?;
        position.mover = read::mover(mover)?;
        position.phase = read::phase(phase)?;
        if let Some(detail) = detail {
            read::detail(&mut position, detail)?;
        }
        check::check(&position)?;
        let again = position.to_string();
        if again != text {
            return fault("whole text", format!("this position is written \"{again}\""));
        }
        Ok(position)
    }
}
