#!/usr/bin/env bash
# Static binaries for Linux, of each architecture the whole command and the daemon alone: archives with manual, completions
# and unit, bare binaries, checksums, and a list of all that is in them (CycloneDX). The same sources give the same bytes,
# whatever the folder: toolchain, linker and C compiler have fixed versions, paths are mapped, times are the commit's.
# usage: scripts/dist.sh OUT [x86_64] [aarch64] [armv7]
# Without an architecture all are built; what cannot be built here is named first and at the end, and is an error. So is a
# binary above its limit.
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
# Largest binaries [MB], stripped: a router has 16 MB of flash memory.
declare -A limit=([airbraid-daemon]=5 [airbraid]=15)
for command in cargo rustc cc python3 tar gzip sha256sum; do
    command -v "$command" >/dev/null || { echo "dist.sh: $command is missing: scripts/tools.sh build python dist" >&2; exit 1; }
done
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Of sources without git: the time of the newest change that is written down.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
build=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$build
# shellcheck source=scripts/standard_library.sh
. scripts/standard_library.sh

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

# usage: lacking: names what is not built, and what mends it.
lacking() {
    local one
    for one in "${missing[@]}"; do echo "dist.sh: $one cannot be built: no standard library of Rust for ${target[$one]}"; done
    cat <<HELP
This Rust is $(rustc --version), in $(rustc --print sysroot). One of these mends it:
    rustup target add$(for one in "${missing[@]}"; do printf ' %s' "${target[$one]}"; done)
    rustup component add rust-src
    apt-get install rustc-web cargo-web rust-web-src   (Debian's, all of one version; then PATH=/usr/bin:\$PATH make dist)
HELP
}

# usage: archive FOLDER FILE: equal bytes for equal files.
archive() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --format=gnu \
        --directory "$(dirname "$1")" "$(basename "$1")" | gzip --no-name -9 >"$2"
}

# usage: compile TRIPLE FEATURE...: the command, in $build/TRIPLE/dist.
compile() {
    local triple=$1 options=() variables=()
    shift
    of_sources "$triple"
    env "${variables[@]}" cargo zigbuild --profile dist --locked --package airbraid-cli --target "$triple" "${options[@]}" "$@"
}

# usage: talker NAME VARIANT: a program that runs here and writes manual and completions, which are the same everywhere.
talker() {
    local emulator
    if "$out/$1" --version >/dev/null 2>&1; then echo "$out/$1"; return; fi
    if [ -x "$out/$2-$version-$(uname -m)" ]; then echo "$out/$2-$version-$(uname -m)"; return; fi
    case $1 in *-x86_64) emulator=qemu-x86_64-static ;; *-aarch64) emulator=qemu-aarch64-static ;; *) emulator=qemu-arm-static ;; esac
    if ! command -v "$emulator" >/dev/null; then
        echo "dist.sh: $1 does not run here, and its manual is written by itself: build $(uname -m), too, or install qemu-user-static" >&2
        return 1
    fi
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$emulator" "$out/$1" >"$work/talker"
    chmod 755 "$work/talker"
    echo "$work/talker"
}

# usage: one ARCHITECTURE
one() {
    local triple=${target[$1]} variant features name tree speaks
    for variant in airbraid-daemon airbraid; do
        features=(--no-default-features --features live)
        [ "$variant" = airbraid ] && features=()
        compile "$triple" "${features[@]}"
        name=$variant-$version-$1
        install -m 755 "$build/$triple/dist/airbraid" "$out/$name"
        [ "$(stat -c %s "$out/$name")" -le $((limit[$variant] * 1000000)) ] || large+=("$name")
        speaks=$(talker "$name" "$variant")
        tree=$work/$name
        DESTDIR=$tree PREFIX=/usr/local scripts/install.sh "$out/$name" "$speaks" >/dev/null
        mv "$tree/usr/local" "$work/moved" && rm -rf "$tree" && mv "$work/moved" "$tree"
        archive "$tree" "$out/$name.tar.gz"
    done
}

missing=()
large=()
buildable=()
for one in "${wanted[@]}"; do
    if has_library "${target[$one]}"; then buildable+=("$one"); else missing+=("$one"); fi
done
[ ${#missing[@]} -eq 0 ] || lacking >&2
[ ${#buildable[@]} -gt 0 ] || exit 1
environment
flags
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for one in "${buildable[@]}"; do one "$one"; done
scripts/sbom.py --version "$version" --time "$SOURCE_DATE_EPOCH" >"$out/airbraid-$version.cdx.json"
(cd "$out" && sha256sum airbraid* >SHA256SUMS)
(cd "$out" && du --apparent-size -b -- * | awk '{ printf "%10.2f MB  %s\n", $1 / 1e6, $2 }')
for one in "${large[@]}"; do echo "dist.sh: $one has more than ${limit[${one%%-[0-9]*}]} MB" >&2; done
if [ ${#missing[@]} -gt 0 ]; then echo "dist.sh: not built: ${missing[*]}, as said at the beginning" >&2; fi
[ ${#missing[@]} -eq 0 ] && [ ${#large[@]} -eq 0 ]
