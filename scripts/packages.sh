#!/usr/bin/env bash
# Debian packages and container images of the binaries that `make dist` has made.
# usage: scripts/packages.sh DIST OUT
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(realpath "${1:?usage: scripts/packages.sh DIST OUT}")
out=${2:?}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
talker=$dist/airbraid-$version-$(uname -m)
[ -x "$talker" ] || { echo "packages.sh: $talker is not there: make dist" >&2; exit 1; }
for pair in x86_64:amd64 aarch64:arm64; do
    binary=$dist/airbraid-$version-${pair%:*}
    [ -x "$binary" ] || { echo "packages.sh: no ${pair%:*}" >&2; continue; }
    scripts/deb.sh "$binary" "${pair#*:}" "$out" "$talker"
    scripts/image.py "$binary" "${pair#*:}" "$out"
done
