//! What the page in the browser and the HTTP service ask about a game, and the answers: JSON in, JSON out.
//!
//! No question has a memory: each brings its whole game along. The same module answers the page's wasm and
//! `gipf-player serve`, so both speak the same messages; `player/web/src/messages.ts` writes the types down for TypeScript.
//!
//! | question | body | answer |
//! |---|---|---|
//! | `position` | [`Game`] | [`View`](view::View): board, hands, what may be played |
//! | `apply` | [`Apply`] | the [`View`](view::View) after one more play |
//! | `read` | [`Read`] | the [`Game`] that a pasted text tells |
//! | `write` | [`Game`] | [`Written`]: the game as a text to copy |
//! | `best` | [`Best`](thinking::Best) | the player's play: [`Opinion`](thinking::Opinion) |
//! | `analysis` | [`Analysis`](thinking::Analysis) | what the player thinks of the position: [`Opinion`](thinking::Opinion) |
//! | `knows` | [`Knows`](thinking::Knows) | whether the player was trained for a game: [`Knowledge`](thinking::Knowledge) |

pub mod game;
pub mod options;
pub mod text;
pub mod thinking;
pub mod view;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use game::{Game, Replay};
use view::View;

/// What is wrong with a question, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[error("{error}")]
pub struct Fault {
    /// The line.
    pub error: String,
}

impl Fault {
    /// A fault with this line; control characters are escaped, a long one is cut.
    pub fn new(text: impl AsRef<str>) -> Fault {
        Fault { error: crate::messages::one_line(text.as_ref()) }
    }
}

/// The question `apply`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema), schema(example = json!({ "game": { "rules": "standard", "plays": ["e1-e2", "e9-e8"] }, "play": "b6-b5" })))]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// The game so far.
    pub game: Game,
    /// The play to make.
    pub play: String,
}

/// The question `read`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema), schema(example = json!({ "text": "1. e1-e3 / e9-e7" })))]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// A game as somebody pasted it.
    pub text: String,
}

/// The answer to `write`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The game as a text that `read` understands.
    pub text: String,
}

/// The questions that need the rules alone.
pub const QUESTIONS: [&str; 4] = ["position", "apply", "read", "write"];

/// Answers one of [`QUESTIONS`] with JSON.
///
/// # Errors
/// [`Fault`] for an unknown question, a body that is none of its form, and whatever the rules do not allow.
///
/// ```
/// let answer = gipf_player::desk::answer("position", br#"{"rules":"basic","plays":["e1-e2"]}"#)?;
/// assert!(answer.contains(r#""decider":"b""#));
/// let fault = gipf_player::desk::answer("position", br#"{"rules":"basic","plays":["a1-e5"]}"#).unwrap_err();
/// assert_eq!(fault.error, "play 1: \"a1-e5\" is not a play");
/// # Ok::<(), gipf_player::desk::Fault>(())
/// ```
pub fn answer(question: &str, body: &[u8]) -> Result<String, Fault> {
    match question {
        "position" => write_answer(&View::of(&parse::<Game>(body)?.replay()?)),
        "apply" => {
            let Apply { game, play } = parse(body)?;
            let mut replay = game.replay()?;
            replay.apply(&play)?;
            write_answer(&View::of(&replay))
        }
        "read" => write_answer(&text::read(&parse::<Read>(body)?.text)?),
        "write" => write_answer(&Written { text: text::write(&parse::<Game>(body)?.replay()?) }),
        _ => Err(Fault::new(format!("no question '{}'", crate::messages::echo(question)))),
    }
}

/// Reads a body.
///
/// # Errors
/// [`Fault`] that tells what was expected and where, in one line.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    // A list of an object's values would do for serde.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(Fault::new("bad request: a list, where an object is expected"));
    }
    serde_json::from_slice(body).map_err(|error| Fault::new(format!("bad request: {error}")))
}

/// An answer as JSON.
///
/// # Errors
/// None of the answers has what JSON has not (keys that are no texts).
pub fn write_answer(answer: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(answer).map_err(|error| Fault::new(format!("no answer: {error}")))
}
