#!/usr/bin/env bash
# One greedy TCP connection over one 802.11b channel and over a trunk of three: table, plot, and the same facts as JSON.
# usage: scripts/demo.sh AIRBRAID OUT
set -euo pipefail
airbraid=$1
out=$2
rm -rf "$out"
mkdir -p "$out"
for scenario in one_channel three_channels; do
    "$airbraid" run "scenarios/examples/$scenario.toml" --out "$out/$scenario"
    echo
done
echo "Plots: $out/one_channel/plot.svg, $out/three_channels/plot.svg"
echo "The same facts as JSON: $out/one_channel/summary.json, $out/three_channels/summary.json"
