#!/usr/bin/env bash
# Draws the pictures of the README and of the examples from committed scenarios.
# usage: scripts/picture.sh AIRBRAID
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$1
to=docs/pictures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$to/examples"

# plot SCENARIO FILE: the goodput of its flows over time
plot() {
    "$airbraid" run "$1" --out "$scratch/run" >/dev/null
    cp "$scratch/run/plot.svg" "$2"
    echo "$2"
}

for scenario in scenarios/examples/*.toml; do
    plot "$scenario" "$to/examples/$(basename "$scenario" .toml).svg"
done
plot scenarios/live/s6.toml "$to/bond.svg"
"$airbraid" plan --duty 0.5,0.125,0.375 --slot 12.5ms --delay 20ms,60ms,35ms --svg "$to/slots.svg" >/dev/null
echo "$to/slots.svg"
