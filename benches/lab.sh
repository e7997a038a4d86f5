#!/usr/bin/env bash
# The simulated TCP beside the kernel's on the same scenarios and seed, as root. A table, some four minutes.
# usage: benches/lab.sh [airbraid] [seconds]
set -euo pipefail
airbraid=${1:-target/release/airbraid}
seconds=${2:-15}
folder=$(cd "$(dirname "$0")/.." && pwd)/scenarios/lab

# What Linux does, as far as the simulated TCP can be told: the rest is in docs/lab.md.
linux='mss = "1448 byte", initial_window = 10, min_rto = "200 ms", delayed_ack = "40 ms", receive_buffer = "6 MB", send_buffer = "4 MB", timestamps = true'

row() { # name, kernel's algorithm, ours, scenario, settings...
    local name=$1 kernel=$2 ours=$3 file=$folder/$4.toml
    shift 4
    local settings=()
    for setting in "$@"; do settings+=(--set "$setting"); done
    local real simulated late
    "$airbraid" lab "$file" "${settings[@]}" --duration "$((seconds + 15)) s" \
        --exec "sender=iperf3 -c receiver -C $kernel -t $seconds -f k" --exec "receiver=iperf3 -s -1 -f k" >"$scratch" || true
    real=$(awk '/^sender .* receiver *$/ { for (i = 1; i < NF; i++) if ($(i + 1) == "Kbits/sec") print $i / 1000 }' "$scratch")
    late=$(awk '/events late/ { sub(/.*\(median\), /, ""); sub(/ \(99.*/, ""); print }' "$scratch")
    simulated=$("$airbraid" run "$file" "${settings[@]}" --set "flow.download.transport={ tcp = \"$ours\", $linux }" \
        --duration "$seconds s" --replications 5 | awk '$1 == "download" { for (i = 1; i <= NF; i++) if ($i ~ /bit\/s$/) { print ($i == "kbit/s") ? $2 / 1000 : $2; exit } }')
    awk -v name="$name" -v kernel="$kernel" -v real="$real" -v ours="$simulated" -v late="$late" 'BEGIN {
        printf "| %s | %s | %.2f | %.2f | %+.1f %% | %s |\n", name, kernel, real, ours, 100 * (ours / real - 1), late }'
}

scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
echo "| scenario | TCP | kernel, Mbit/s | simulated | difference | lateness, 99.9 % |"
echo "|---|---|---|---|---|---|"
for pair in "reno sack" "cubic cubic"; do
    read -r kernel ours <<<"$pair"
    row "one 802.11b channel" "$kernel" "$ours" trunk 'trunk.air.members=["ch1"]'
    row "trunk of three" "$kernel" "$ours" trunk
    row "the same, BER 1e-5" "$kernel" "$ours" trunk 'radio.error={ ber = 1e-5 }'
    row "the same, one channel congested" "$kernel" "$ours" congested
    row "link 20 Mbit/s, 10 ms, 1 % loss" "$kernel" "$ours" link 'link.wan.loss="1 %"'
    row "chain of three hops" "$kernel" "$ours" chain
done
