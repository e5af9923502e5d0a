//! Writes the folder of libtorch into the programs and tests of this package, so that they run without LD_LIBRARY_PATH, and
//! its version, so that they can name it.

use std::fs;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var("LIBTORCH").unwrap_or_default();
    println!("cargo:rustc-env=GIPF_LIBTORCH={folder}");
    println!("cargo:rustc-env=GIPF_LIBTORCH_VERSION={}", version(Path::new(&folder)));
    if !folder.is_empty() {
        let library = Path::new(&folder).join("lib");
        println!("cargo:rerun-if-changed={}", library.join("libtorch.so").display());
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());
    }
}

/// A release of libtorch has its version in a file of its own, a Python package in `version.py`.
fn version(folder: &Path) -> String {
    if let Ok(text) = fs::read_to_string(folder.join("build-version")) {
        return text.lines().next().unwrap_or("unknown").trim().to_owned();
    }
    let text = fs::read_to_string(folder.join("version.py")).unwrap_or_default();
    let line =
        text.lines().find_map(|line| line.strip_prefix("__version__")?.split(['\'', '"']).nth(1));
    line.unwrap_or("unknown").to_owned()
}
