//! Writes the folder of libtorch into the programs and tests of this package, so that they run without LD_LIBRARY_PATH.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let Some(folder) = std::env::var_os("LIBTORCH") else {
        return;
    };
    let library = Path::new(&folder).join("lib");
    println!("cargo:rerun-if-changed={}", library.join("libtorch.so").display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());
}
