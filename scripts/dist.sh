#!/usr/bin/env bash
# Static binaries for Linux, of each architecture the whole command and the daemon alone: archives with manual, completions
# and unit, bare binaries, checksums, and a list of all that is in them (CycloneDX). The same sources give the same bytes,
# whatever the folder: toolchain, linker and C compiler have fixed versions, paths are mapped, times are the commit's.
# usage: scripts/dist.sh OUT [x86_64] [aarch64] [armv7]
# Without an architecture all are built; what cannot be built here is named at the end, and is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(realpath -m "${1:?usage: scripts/dist.sh OUT [ARCHITECTURE]...}")
shift
declare -A target=([x86_64]=x86_64-unknown-linux-musl [aarch64]=aarch64-unknown-linux-musl [armv7]=armv7-unknown-linux-musleabihf)
wanted=("$@")
[ $# -gt 0 ] || wanted=(x86_64 aarch64 armv7)
for one in "${wanted[@]}"; do
    [ -n "${target[$one]:-}" ] || { echo "dist.sh: there is no '$one': x86_64, aarch64, armv7" >&2; exit 2; }
done
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Of sources without git: the time of the newest change that is written down.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
build=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$build
# The sources of the standard library, where the toolchain has them: rustup's rust-src, Debian's rust-web-src.
library=$(realpath -m "$(rustc --print sysroot)/lib/rustlib/src/rust")

# The compiler of all targets, in an environment of its own.
environment() {
    local venv=$build/dist-tools
    if ! cmp -s packaging/dist/requirements.txt "$venv/made-from"; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement packaging/dist/requirements.txt
        cp packaging/dist/requirements.txt "$venv/made-from"
    fi
    export PATH=$venv/bin:$PATH
}

# Paths of this machine are in no binary.
flags() {
    local cargo_home=${CARGO_HOME:-$HOME/.cargo}
    RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$root=/airbraid --remap-path-prefix=$build=/build"
    RUSTFLAGS+=" --remap-path-prefix=$library=/rustc"
    CFLAGS="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$root=/airbraid -ffile-prefix-map=$build=/build"
    export RUSTFLAGS CFLAGS CARGO_INCREMENTAL=0
}

# usage: has_library TARGET: whether there is a standard library for it, fetched if need be, or its sources.
has_library() {
    if ! is_built "$1" && command -v rustup >/dev/null; then rustup target add "$1" >/dev/null 2>&1 || true; fi
    is_built "$1" || [ -f "$library/library/Cargo.lock" ]
}

# usage: is_built TARGET: whether the toolchain has a standard library for it.
is_built() { [ -d "$(rustc --print target-libdir --target "$1")" ]; }

# usage: archive FOLDER FILE: equal bytes for equal files.
archive() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --format=gnu \
        --directory "$(dirname "$1")" "$(basename "$1")" | gzip --no-name -9 >"$2"
}

# usage: one ARCHITECTURE
one() {
    local triple=${target[$1]} variant features name tree talker std=() more=
    # A library that is not there is built like the rest; Cargo takes that option from nightly toolchains alone otherwise.
    if ! is_built "$triple"; then
        std=("-Zbuild-std=std,panic_unwind")
        export RUSTC_BOOTSTRAP=1
        # Its start files are the linker's, too.
        more=" -Clink-self-contained=no"
    fi
    for variant in airbraid-daemon airbraid; do
        features=(--no-default-features --features live)
        [ "$variant" = airbraid ] && features=()
        RUSTFLAGS=$RUSTFLAGS$more cargo zigbuild --profile dist --locked --package airbraid-cli --target "$triple" "${std[@]}" "${features[@]}"
        name=$variant-$version-$1
        install -m 755 "$build/$triple/dist/airbraid" "$out/$name"
        talker=$out/$variant-$version-x86_64
        # Manual and completions are the same on all architectures: one that runs here writes them.
        if ! "$out/$name" --version >/dev/null 2>&1; then [ -x "$talker" ] || continue; else talker=$out/$name; fi
        tree=$work/$name
        DESTDIR=$tree PREFIX=/usr/local scripts/install.sh "$out/$name" "$talker" >/dev/null
        mv "$tree/usr/local" "$work/moved" && rm -rf "$tree" && mv "$work/moved" "$tree"
        archive "$tree" "$out/$name.tar.gz"
    done
}

environment
flags
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missing=()
for one in "${wanted[@]}"; do
    if has_library "${target[$one]}"; then one "$one"; else missing+=("$one"); fi
done
scripts/sbom.py --version "$version" --time "$SOURCE_DATE_EPOCH" >"$out/airbraid-$version.cdx.json"
(cd "$out" && sha256sum airbraid* >SHA256SUMS)
(cd "$out" && du --apparent-size -b -- * | awk '{ printf "%10.2f MB  %s\n", $1 / 1e6, $2 }')
if [ ${#missing[@]} -gt 0 ]; then
    for one in "${missing[@]}"; do
        echo "dist.sh: $one is not built: there is no standard library of Rust for ${target[$one]} (rustup target add, or Debian's rust-web-src)" >&2
    done
    exit 1
fi
