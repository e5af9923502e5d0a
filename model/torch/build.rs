//! Finds libtorch and tells the linker where the programs of this crate will look for it.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var_os("LIBTORCH").map(PathBuf::from).unwrap_or_default();
    let library = folder.join("lib").join("libtorch_cpu.so");
    println!("cargo:rerun-if-changed={}", library.display());
    if !library.is_file() {
        panic!(
            "no libtorch in '{}' (LIBTORCH): run `make libtorch`, or set LIBTORCH to a libtorch 2.11.0 folder",
            folder.display()
        );
    }
    let folder = folder.canonicalize().unwrap_or(folder);
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib(&folder));
}

fn lib(folder: &Path) -> String {
    folder.join("lib").display().to_string()
}
