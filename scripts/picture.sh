#!/usr/bin/env bash
# Draws the picture of the README from a committed scenario.
# usage: scripts/picture.sh AIRBRAID
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1" run scenarios/examples/three_channels.toml --out "$scratch/run" >/dev/null
mkdir -p docs/pictures
cp "$scratch/run/plot.svg" docs/pictures/three_channels.svg
echo "docs/pictures/three_channels.svg"
