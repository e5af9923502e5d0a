#!/usr/bin/env bash
# Builds the page on which a player is played in a browser: TARGET/web/gipf-page.html, where `gipf export --to web` and
# `gipf-player serve` look for it. Needs node and npm; toolchain.sh says where Rust's WebAssembly target comes from.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)

command -v node >/dev/null && command -v npm >/dev/null || { echo "web: building the page needs node and npm" >&2; exit 1; }
rustc=$(./toolchain.sh)

# Another compiler's output in the same folder would be built anew each time.
target=${CARGO_TARGET_DIR:-$root/target}
case $target in /*) ;; *) target=$root/$target ;; esac
mkdir -p "$target/web"
# Debian's compiler may be a little older than the one that the workspace asks for.
(
  cd "$root"
  RUSTC=$rustc RUSTFLAGS="-C target-feature=+simd128" CARGO_TARGET_DIR="$target/web/cargo" \
    cargo build --quiet --locked --ignore-rust-version -p gipf-player-wasm --profile web --target wasm32-unknown-unknown
)
program=$target/web/cargo/wasm32-unknown-unknown/web/gipf_player_wasm.wasm
# Binaryen makes it a quarter smaller, where it is installed.
if command -v wasm-opt >/dev/null && wasm-opt -O3 --enable-simd --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int \
  --enable-mutable-globals --enable-multivalue --enable-reference-types "$program" -o "$program.small" 2>/dev/null; then
  program=$program.small
fi

if [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
npm run --silent check
node build.mjs "$program" "$target/web/gipf-page.html"
