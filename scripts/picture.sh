#!/usr/bin/env bash
# Draws the pictures of the README and of the examples from committed scenarios.
# usage: scripts/picture.sh AIRBRAID [--check]     --check: are the committed ones what would be drawn? Nothing is written
set -euo pipefail
airbraid=$(realpath "$1")
cd "$(dirname "$0")/.."
to=docs/pictures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "${2:-}" = --check ]; then to=$scratch/pictures; fi
mkdir -p "$to/examples"

# Pictures other than that of `run --out`: goodput over time, or each flow's goodput over the swept values.
declare -A picture=(
    [deep_buffer]="flow.call.delay_p99 ~ link.line.queue | flow.download.transport.tcp"
    [error_control]="flow.download.goodput ~ killer.air.trace | radio.link_layer.retransmissions"
    [hidden_station]="total.goodput ~ radio.rts_threshold"
    [exposed_station]="total.goodput ~ node.c.position"
    [next_room]="flow.download.gap_longest ~ trunk.choice.members"
    [overlap]="total.goodput ~ node.camera.radios.wlan.channel"
    [one_radio_three_aps]="total.goodput ~ slots.laptop.planner"
    [voice_on_bond]="flow.call.delay_p99 ~ flow.call.dscp"
    [web_objects]="flow.object.completion ~ flow.object.source.file | flow.object.transport.initial_window"
)

# plot SCENARIO FILE [PLOT]: a picture of a run
plot() {
    local options=()
    if [ -n "${3:-}" ]; then options=(--plot "$3"); fi
    "$airbraid" run "$1" --out "$scratch/run" "${options[@]}" >/dev/null 2>"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }
    cp "$scratch/run/plot.svg" "$2"
    if [ "$to" = docs/pictures ]; then echo "$2"; fi
}

for scenario in scenarios/examples/*.toml; do
    name=$(basename "$scenario" .toml)
    plot "$scenario" "$to/examples/$name.svg" "${picture[$name]:-}"
done
plot scenarios/live/s6.toml "$to/bond.svg"
plot scenarios/today/member_queue.toml "$to/wifi-2026.svg" "flow.data.goodput ~ trunk.air.policy.member_queue"
"$airbraid" plan --duty 0.5,0.125,0.375 --slot 12.5ms --delay 20ms,60ms,35ms --svg "$to/slots.svg" >/dev/null 2>&1

if [ "$to" != docs/pictures ]; then
    (cd "$to" && find . -name '*.svg' | sort) | while read -r name; do
        cmp "docs/pictures/$name" "$to/$name" || { echo "make picture draws $name again" >&2; exit 1; }
    done
fi
