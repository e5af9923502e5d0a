//! The program `gipf`: see `gipf --help`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gipf_train::commands::main()
}
