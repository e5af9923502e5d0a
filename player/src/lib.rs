//! A player of GIPF as a program of its own: the engine protocol UGI, boards drawn as text, the rules of a position in
//! words, and what a page in the browser asks.
//!
//! Nothing here links libtorch. Without the feature `program`, which is on unless it is turned off, there is no engine, and the
//! library starts no thread, reads no clock and builds for wasm32.
#![forbid(unsafe_code)]

pub mod desk;
pub mod drawing;
pub mod messages;
#[cfg(feature = "program")]
pub mod named;
pub mod refusal;
#[cfg(feature = "program")]
pub mod shipped;
pub mod situation;
#[cfg(feature = "program")]
pub mod ugi;
mod words;
