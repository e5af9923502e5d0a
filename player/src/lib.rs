//! A player of GIPF as a program of its own: the engine protocol UGI and boards drawn as text.
//!
//! Nothing here links libtorch.
#![forbid(unsafe_code)]

pub mod drawing;
pub mod ugi;
