//! The player for a page in the browser, as WebAssembly: [`gipf_player::desk`] behind a plain C interface, without imports.
//!
//! The page writes what it has to say to where `reserve` tells, asks, and reads the answer, JSON, from `output`: a function's result is
//! 0 for an answer, 1 for a fault (`{"error": "…"}`). No pointer comes in from outside, so nothing here can read or write where it
//! must not: the only thing that needs `unsafe` is the export of names.

pub mod bench;

use std::cell::RefCell;

use gipf_player::PlayerFile;
use gipf_player::desk::thinking::{Task, Thinker};
use gipf_player::desk::{self, Fault};

/// What the page and the program hand to each other, and who plays.
#[derive(Default)]
struct Hatch {
    input: Vec<u8>,
    output: Vec<u8>,
    file: Option<PlayerFile>,
    thinker: Option<Thinker>,
    trial: Option<bench::Trial>,
}

thread_local! {
    static HATCH: RefCell<Hatch> = RefCell::default();
}

impl Hatch {
    /// Puts an answer, or a fault, where the page reads it.
    fn put(&mut self, result: Result<String, Fault>) -> u32 {
        let (text, code) = match result {
            Ok(text) => (text, 0),
            Err(fault) => (desk::write_answer(&fault).unwrap_or_default(), 1),
        };
        self.output = text.into_bytes();
        code
    }

    fn thinker(&mut self) -> Result<&mut Thinker, Fault> {
        self.thinker.as_mut().ok_or_else(|| Fault::new("no player has been loaded"))
    }

    /// The first bytes of the input, a name, and the others, the body of a question.
    fn question(&self, name: usize) -> (String, &[u8]) {
        let (name, body) = self.input.split_at(name.min(self.input.len()));
        (String::from_utf8_lossy(name).into_owned(), body)
    }

    fn load(&mut self) -> Result<String, Fault> {
        let file = PlayerFile::from_bytes("the player", &self.input)
            .map_err(|error| Fault::new(error.to_string()))?;
        let thinker = Thinker::new(&file)?;
        let info = desk::write_answer(&thinker.player());
        (self.file, self.thinker) = (Some(file), Some(thinker));
        info
    }
}

/// Does something with the hatch and puts its result there.
fn with_hatch(act: impl FnOnce(&mut Hatch) -> Result<String, Fault>) -> u32 {
    HATCH.with_borrow_mut(|hatch| {
        let result = act(hatch);
        hatch.put(result)
    })
}

/// Makes room for a question of so many bytes: its address.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    HATCH.with_borrow_mut(|hatch| {
        hatch.input.clear();
        hatch.input.resize(length, 0);
        hatch.input.as_mut_ptr()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    HATCH.with_borrow(|hatch| hatch.output.as_ptr())
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    HATCH.with_borrow(|hatch| hatch.output.len())
}

/// Answers a question that needs the rules alone: the first `name` bytes of the input are its name, the others its body.
#[unsafe(no_mangle)]
pub extern "C" fn answer(name: usize) -> u32 {
    with_hatch(|hatch| {
        let (name, body) = hatch.question(name);
        desk::answer(&name, body)
    })
}

/// Loads the player whose file the input is; the answer is who it is.
#[unsafe(no_mangle)]
pub extern "C" fn load() -> u32 {
    with_hatch(Hatch::load)
}

/// Whether the player knows the game of the input (`{"rules": "…"}`).
#[unsafe(no_mangle)]
pub extern "C" fn knows() -> u32 {
    with_hatch(|hatch| {
        let question = desk::parse(&hatch.input)?;
        desk::write_answer(&hatch.thinker()?.knows(&question)?)
    })
}

/// Turns to a question for the player: the first `name` bytes of the input are its name, the others its body. The answer says nothing.
#[unsafe(no_mangle)]
pub extern "C" fn think(name: usize) -> u32 {
    with_hatch(|hatch| {
        let (name, body) = hatch.question(name);
        let task = Task::parse(&name, body)?;
        hatch.thinker()?.begin(&task)?;
        Ok("{}".to_owned())
    })
}

/// Thinks on for so many evaluations of the network: the answer is what was found so far.
#[unsafe(no_mangle)]
pub extern "C" fn go_on(evaluations: u32) -> u32 {
    with_hatch(|hatch| desk::write_answer(&hatch.thinker()?.go_on(evaluations)?))
}
