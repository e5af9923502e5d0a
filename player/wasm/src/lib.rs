//! The player for a page in the browser, as WebAssembly: [`gipf_player::desk`] behind a plain C interface, without imports.
//!
//! The page writes a question to where `reserve` says, asks, and reads the answer, JSON, from `output`: a function's result is
//! 0 for an answer, 1 for a fault (`{"error": "…"}`). No pointer comes in from outside, so nothing here can read or write where it
//! must not: the only thing that needs `unsafe` is the export of names.

use std::cell::RefCell;

use gipf_player::desk::{self, Fault};

/// What the page and the program hand to each other.
#[derive(Default)]
struct Hatch {
    input: Vec<u8>,
    output: Vec<u8>,
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
    HATCH.with_borrow_mut(|hatch| {
        let (name, body) = hatch.input.split_at(name.min(hatch.input.len()));
        let result = desk::answer(&String::from_utf8_lossy(name), body);
        hatch.put(result)
    })
}
