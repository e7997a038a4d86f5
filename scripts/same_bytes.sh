#!/usr/bin/env bash
# Builds the release once more, from a copy of the sources in another folder and without what was built, and compares.
# usage: scripts/same_bytes.sh OUT [ARCHITECTURE]...
# Without an architecture those that are in OUT. Both builds are of the commit that is checked out.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:?usage: scripts/same_bytes.sh OUT [ARCHITECTURE]...}")
shift
[ -f "$out/SHA256SUMS" ] || { echo "same_bytes.sh: nothing is in $out: make dist" >&2; exit 1; }
if [ -n "$(git status --porcelain)" ]; then
    echo "same_bytes.sh: the second build is of a clone, and there are changes that are in no commit (git status)" >&2
    exit 1
fi
wanted=("$@")
if [ $# -eq 0 ]; then
    for one in x86_64 aarch64 armv7; do if grep -q -- "-$one\$" "$out/SHA256SUMS"; then wanted+=("$one"); fi; done
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
copy=$(mktemp -d --suffix=-another-place)
trap 'rm -rf "$copy"' EXIT
git clone --quiet --no-hardlinks . "$copy/airbraid"
(cd "$copy/airbraid" && CARGO_TARGET_DIR=$copy/build scripts/dist.sh "$copy/dist" "${wanted[@]}" >/dev/null)
# Files of architectures that were not built again are in OUT's list alone.
cd "$out"
sha256sum --check --strict "$copy/dist/SHA256SUMS"
echo "the bytes are equal: $(wc -l <"$copy/dist/SHA256SUMS") files"
