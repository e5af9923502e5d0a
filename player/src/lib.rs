//! A player of GIPF as a program of its own: the engine protocol UGI, boards drawn as text, and the rules of a position in
//! words.
//!
//! Nothing here links libtorch.
#![forbid(unsafe_code)]

pub mod drawing;
pub mod messages;
pub mod refusal;
pub mod situation;
pub mod ugi;
mod words;
