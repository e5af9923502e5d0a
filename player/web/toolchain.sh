#!/usr/bin/env bash
# Prints the RUSTC that builds for WebAssembly; prepares one if there is none. All else goes to standard error.
#
# Rustup's target where it is there or can be downloaded. Where it cannot, Debian's rustc-web with its standard library, built
# from Debian's sources into ${WEB_TOOLCHAIN:-~/.cache/gipf-web-toolchain} (needs apt-get; about a minute, once).
# WEB_TOOLCHAIN_FROM=debian goes that way in any case.
set -euo pipefail

target=wasm32-unknown-unknown
place=${WEB_TOOLCHAIN:-${XDG_CACHE_HOME:-$HOME/.cache}/gipf-web-toolchain}
from=${WEB_TOOLCHAIN_FROM:-any}
sysroot=$(rustc --print sysroot)

say() { echo "web: $*" >&2; }
# Whether this rustc has the target's standard library.
has_target() { compgen -G "$("$1" --print target-libdir --target $target)/libstd-*.rlib" >/dev/null; }

if [ "$from" != debian ]; then
  if has_target rustc; then echo "$sysroot/bin/rustc"; exit; fi
  if command -v rustup >/dev/null && timeout 60 rustup target add $target >&2 && has_target rustc; then
    echo "$sysroot/bin/rustc"
    exit
  fi
  say "rustup has no $target for $(rustc -V)"
fi
if [ -x "$place/rustc" ] && has_target "$place/rustc"; then echo "$place/rustc"; exit; fi
command -v apt-get >/dev/null && command -v dpkg >/dev/null || { say "and there is no apt-get: run 'rustup target add $target' where there is a network"; exit 1; }

say "making a toolchain of Debian's rustc-web in $place"
rm -rf "$place"
mkdir -p "$place/debs/partial" "$place/root" "$place/std/src"
apt-get update -qq >&2
apt-get install -y -qq --download-only --no-install-recommends -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$place/debs" rustc-web rust-web-src >&2
for package in "$place"/debs/*.deb; do
  case $package in
    */rust-web-src_*)
      dpkg --fsys-tarfile "$package" |
        tar -x -C "$place/root" --wildcards './usr/lib/rustlib/src*' './usr/src/rustc-*/library/*' ;;
    *) dpkg --fsys-tarfile "$package" | tar -x -C "$place/root" --exclude='./usr/share/*' ;;
  esac
done
usr=$place/root/usr
host_tools=$usr/lib/rustlib/x86_64-unknown-linux-gnu/bin
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$usr/lib/x86_64-linux-gnu" "$usr/bin/rustc" >"$place/rustc"
chmod +x "$place/rustc"
# Debian's package has no linker of its own; rustup's links for any version.
mkdir -p "$host_tools"
ln -sf "$sysroot/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld" "$host_tools/rust-lld"

# An empty crate whose build leaves the standard library behind.
: >"$place/std/src/lib.rs"
printf '[package]\nname="stdonly"\nversion="0.0.0"\nedition="2021"\n[workspace]\n[profile.release]\npanic="abort"\n' >"$place/std/Cargo.toml"
(
  cd "$place/std"
  RUSTC="$place/rustc" RUSTC_BOOTSTRAP=1 CARGO_HOME="$place/std/home" CARGO_TARGET_DIR="$place/std/target" \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C embed-bitcode=yes" \
    "$sysroot/bin/cargo" build -q --offline --release -Z build-std=std,panic_abort --target $target \
    --config 'source.crates-io.replace-with="stdvendor"' \
    --config "source.stdvendor.directory=\"$usr/lib/rustlib/src/rust/library/vendor\"" >&2
)
library=$usr/lib/rustlib/$target/lib
mkdir -p "$library"
cp "$place/std/target/$target/release/deps/"*.rlib "$library/"
rm -f "$library"/libstdonly*
rm -rf "$place/debs" "$place/std" "$usr/src"
has_target "$place/rustc"
echo "$place/rustc"
