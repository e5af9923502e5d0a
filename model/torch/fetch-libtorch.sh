#!/usr/bin/env bash
# Puts a CPU-usable libtorch 2.11.0 into ./libtorch (or the folder named as the first argument).
#
#   model/torch/fetch-libtorch.sh [FOLDER]
#
# - A LIBTORCH that is already set and holds lib/libtorch_cpu.so is respected: nothing is downloaded.
# - Otherwise three wheels come from the Python package index through pip (545 MB), each checked against the SHA-256 below.
# - Finished wheels are kept in FOLDER.part until everything is in place, so a second run goes on where the first stopped;
#   a dropped connection is taken up again in the middle of a file. FOLDER appears by one rename, whole or not at all.
set -euo pipefail

VERSION=2.11.0
# requirement, file, SHA-256
WHEELS=(
  "torch==2.11.0 torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl 7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a"
  "nvidia-cuda-runtime==13.0.96 nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548"
  "nvidia-cuda-cupti==13.0.85 nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl 4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8"
)
# The first pip that can take up a broken download where it stopped; fetched only where the installed one is older.
NEW_PIP="pip==25.3 pip-25.3-py3-none-any.whl 9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd"
LIBRARIES=(libtorch.so libtorch_cpu.so libc10.so libgomp.so.1 libcudart.so.13 libcupti.so.13)
NEEDED_MB=1900

say() { printf 'libtorch: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

root=$(cd "$(dirname "$0")/../.." && pwd)
dest=${1:-$root/libtorch}
mkdir -p "$(dirname "$dest")" || die "cannot make the folder $(dirname "$dest")"
dest=$(cd "$(dirname "$dest")" && pwd)/$(basename "$dest")
part=$dest.part
python=${PYTHON:-python3}
cc=${CC:-cc}

complete() {
  [ "$(cat "$1/build-version" 2>/dev/null)" = "$VERSION" ] && [ -f "$1/include/torch/csrc/api/include/torch/torch.h" ] || return 1
  local library
  for library in "${LIBRARIES[@]}"; do [ -s "$1/lib/$library" ] || return 1; done
}

# The version of someone else's libtorch: a release archive has build-version, a Python package version.py.
version_of() {
  if [ -f "$1/build-version" ]; then head -n 1 "$1/build-version"
  elif [ -f "$1/version.py" ]; then sed -n "s/^__version__ *= *['\"]\([^'\"]*\)['\"].*/\1/p" "$1/version.py"
  fi
}

if [ -n "${LIBTORCH:-}" ] && [ "$LIBTORCH" != "$dest" ]; then
  [ -f "$LIBTORCH/lib/libtorch_cpu.so" ] ||
    die "LIBTORCH is set to $LIBTORCH, but there is no lib/libtorch_cpu.so in it; set it to a PyTorch $VERSION folder, or unset it and run this again"
  found=$(version_of "$LIBTORCH")
  case "$found" in
    "$VERSION" | "$VERSION"+*) say "using LIBTORCH=$LIBTORCH (version $found), nothing to fetch" ;;
    *) say "warning: LIBTORCH=$LIBTORCH is version ${found:-unknown}, this project is made for $VERSION; using it all the same" ;;
  esac
  exit 0
fi

if complete "$dest"; then
  say "version $VERSION is in $dest, nothing to fetch"
  exit 0
fi

platform=$(uname -s)-$(uname -m)
[ "$platform" = Linux-x86_64 ] ||
  die "no ready-made libtorch for $platform (only Linux-x86_64): install PyTorch $VERSION and set LIBTORCH to its folder"
command -v "$python" >/dev/null 2>&1 || die "python3 is missing: install it (Debian, Ubuntu: apt-get install python3 python3-pip)"
"$python" -m pip --version >/dev/null 2>&1 || die "python3 has no pip: install it (Debian, Ubuntu: apt-get install python3-pip)"
command -v "$cc" >/dev/null 2>&1 || die "no C compiler '$cc': install one (Debian, Ubuntu: apt-get install build-essential)"

mkdir -p "$part/wheels" "$part/tmp" || die "cannot write to $part"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$part/lock"
  flock -n 9 || die "another download into $dest is going on (it holds $part/lock)"
fi
have_mb=$(du -sm "$part" | cut -f1)
free_mb=$(df -Pm "$part" | awk 'NR == 2 { print $4 }')
[ $((free_mb + have_mb)) -ge $NEEDED_MB ] ||
  die "not enough disk space for libtorch: $free_mb MB free in $(dirname "$dest"), $NEEDED_MB MB needed while installing (430 MB stay)"

verified() { [ -f "$part/wheels/$1" ] && printf '%s  %s\n' "$2" "$part/wheels/$1" | sha256sum --check --status; }

pip=("$python" -m pip)
# fetch REQUIREMENT FILE SHA256: pip checks the hash as well; ours also covers files kept from a run that was stopped.
fetch() {
  verified "$2" "$3" && { say "$2 is here already"; return 0; }
  rm -f "$part/wheels/$2"
  printf '%s --hash=sha256:%s\n' "$1" "$3" >"$part/requirement.txt"
  # The temporary files of pip lie beside the target: /tmp may be small or in memory.
  TMPDIR=$part/tmp "${pip[@]}" download --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.11 --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64 \
    "${resume[@]}" --dest "$part/wheels" --requirement "$part/requirement.txt" >&2 || return 1
  verified "$2" "$3" || { say "$2 has not the expected SHA-256"; return 1; }
}

resume=()
if ! "${pip[@]}" download --help 2>/dev/null | grep -q -- --resume-retries; then
  read -r requirement file sum <<<"$NEW_PIP"
  if fetch "$requirement" "$file" "$sum" && "$python" "$part/wheels/$file/pip" --version >/dev/null 2>&1; then
    pip=("$python" "$part/wheels/$file/pip")
  fi
fi
"${pip[@]}" download --help 2>/dev/null | grep -q -- --resume-retries && resume=(--resume-retries 50)

say "fetching version $VERSION: three files, 545 MB"
for wheel in "${WHEELS[@]}"; do
  read -r requirement file sum <<<"$wheel"
  fetch "$requirement" "$file" "$sum" ||
    die "could not download $requirement (pip's own words are above): check the network or proxy and run this again, it goes on from here"
done

say "unpacking"
rm -rf "$part/out"
mkdir -p "$part/out/lib"
"$python" - "$part/wheels" "$part/out" <<'PYTHON' || die "a downloaded file could not be unpacked; remove $part and run this again"
"""Copies the libraries and headers that a CPU build needs out of the wheels."""
import glob, os, shutil, sys, zipfile

wheels, out = sys.argv[1:]
wanted = {"libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"}
for wheel in sorted(glob.glob(wheels + "/*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            base = os.path.basename(name)
            if base in wanted and "/lib/" in name:
                target = f"{out}/lib/{base}"
            elif name.startswith("torch/include/") and not name.endswith("/"):
                target = f"{out}/{name[len('torch/'):]}"
            else:
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with archive.open(name) as source, open(target, "wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
missing = wanted - set(os.listdir(out + "/lib"))
if missing:
    sys.exit("missing in the wheels: " + ", ".join(sorted(missing)))
PYTHON

# The wheel's libtorch.so is a shim that pulls in the CUDA libraries; ours pulls in the CPU ones alone. (libtorch_cpu.so itself
# names libcudart and libcupti, which is why those two small wheels are fetched.)
"$cc" -shared -o "$part/out/lib/libtorch.so" -Wl,-soname,libtorch.so -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' \
  -L"$part/out/lib" -ltorch_cpu -lc10 -Wl,--allow-shlib-undefined -nostartfiles -x c /dev/null ||
  die "'$cc' could not link libtorch.so (its own words are above)"
if command -v strip >/dev/null 2>&1; then strip --strip-unneeded "$part/out/lib/libtorch_cpu.so" 2>/dev/null || true; fi
echo "$VERSION" >"$part/out/build-version"
complete "$part/out" || die "the unpacked libtorch is not complete; remove $part and run this again"

rm -rf "$dest"
mv "$part/out" "$dest"
rm -rf "$part"
say "version $VERSION is in $dest"
