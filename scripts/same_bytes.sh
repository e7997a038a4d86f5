#!/usr/bin/env bash
# Builds the release once more, from a copy of the sources in another folder and without what was built, and compares.
# usage: scripts/same_bytes.sh OUT [ARCHITECTURE]...
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:?usage: scripts/same_bytes.sh OUT [ARCHITECTURE]...}")
shift
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
copy=$(mktemp -d --suffix=-another-place)
trap 'rm -rf "$copy"' EXIT
git clone --quiet --no-hardlinks . "$copy/airbraid"
(cd "$copy/airbraid" && CARGO_TARGET_DIR=$copy/build scripts/dist.sh "$copy/dist" "$@" >/dev/null)
cd "$copy/dist"
sha256sum --check --strict "$out/SHA256SUMS"
cmp SHA256SUMS "$out/SHA256SUMS"
echo "the bytes are equal: $(wc -l <SHA256SUMS) files"
