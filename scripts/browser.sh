#!/usr/bin/env bash
# Loads every page that airbraid writes in headless Chromium (tests/browser/check.mjs).
# usage: scripts/browser.sh AIRBRAID [--keep DIR]     --keep: screenshots of all pages go there
# The daemon's page comes from the example page-sample, built with the profile PROFILE (release), of the same selection as
# the tests: nothing is built twice.
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$(realpath "$1")
shift

# A check that cannot run fails, unless it is counted (tests/src/skip.rs).
skip() {
    echo "skipped: pages in a browser: $1" >&2
    if [ -n "${AIRBRAID_REQUIRE_ROOT_TESTS:-}" ] && [ "$AIRBRAID_REQUIRE_ROOT_TESTS" != 0 ]; then exit 1; fi
    if [ -z "${AIRBRAID_SKIPPED:-}" ]; then exit 1; fi
    printf 'pages in a browser\t%s\n' "$1" >> "$AIRBRAID_SKIPPED"
    exit 0
}
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
export CHROMIUM
[ -n "$CHROMIUM" ] || skip "there is no Chromium (Debian's package chromium)"
command -v npm >/dev/null || skip "there is no npm (Debian's package npm)"

# The driver and axe-core, in the versions of the lock.
place=out/browser
mkdir -p "$place"
cp tests/browser/package.json tests/browser/package-lock.json tests/browser/check.mjs "$place"
(cd "$place" && npm ci --silent --no-audit --no-fund) \
    || skip "npm could not install what tests/browser/package-lock.json names"

made=$(mktemp -d)
sample=
trap 'rm -rf "$made"; [ -z "$sample" ] || kill "$sample"' EXIT
run() {
    local name=$1
    shift
    "$airbraid" run "$@" --out "$made/$name" > /dev/null 2> "$made/errors" || { cat "$made/errors" >&2; exit 1; }
}
# A page a line; a new kind of page gets a line here and a NAME=FILE below.
run sweep scenarios/examples/three_channels.toml --duration "3 s" --replications 4
run chain scenarios/examples/chain_aodv.toml --duration "3 s" --replications 1 --timeline
run links scenarios/examples/lossy_link.toml --duration "8 s" --replications 2

cargo build --quiet --locked --profile "${PROFILE:-release}" --workspace --example page-sample
# The folder of the profile `dev` has another name.
folder=${PROFILE:-release}
"${CARGO_TARGET_DIR:-target}/${folder/#dev/debug}/examples/page-sample" > "$made/address" &
sample=$!
until [ -s "$made/address" ]; do
    kill -0 "$sample" || { echo "browser.sh: page-sample ended without an address" >&2; exit 1; }
    sleep 0.1
done

node "$place/check.mjs" "$@" \
    sweep="$made/sweep/report.html" \
    chain="$made/chain/report.html" \
    links="$made/links/report.html" \
    timeline="$made/chain/timeline.html" \
    daemon="$(cat "$made/address")"
