#!/usr/bin/env bash
# The simulated TCP (profile "linux") beside the kernel's on the same scenarios and seeds, as root: a table.
# Kernel and simulation run on the seeds 1 to RUNS; each entry is the mean of those, with the standard deviation.
# usage: benches/lab.sh [airbraid] [seconds] [runs] [scenario]
set -euo pipefail
airbraid=${1:-target/release/airbraid}
seconds=${2:-15}
runs=${3:-3}
only=${4:-}
folder=$(cd "$(dirname "$0")/.." && pwd)/scenarios/lab

mean() { awk '{ n++; s += $1; q += $1 * $1 } END { m = s / n; v = n > 1 ? (q - n * m * m) / (n - 1) : 0
    printf("%.3f %.3f\n", m, (v > 0) ? sqrt(v) : 0) }'; }

row() { # name, algorithm, scenario, settings...
    local name=$1 algorithm=$2 file=$folder/$3.toml
    [[ -z $only || $3 == "$only" ]] || return 0
    shift 3
    local settings=() seed trust
    for setting in "$@"; do settings+=(--set "$setting"); done
    : >"$scratch/real"
    : >"$scratch/late"
    for ((seed = 1; seed <= runs; seed++)); do
        "$airbraid" lab "$file" "${settings[@]}" --seed "$seed" --duration "$((seconds + 15)) s" \
            --exec "sender=iperf3 -c receiver -C $algorithm -t $seconds -f k" --exec "receiver=iperf3 -s -1 -f k" >"$scratch/lab" || true
        awk '/^sender .* receiver *$/ { for (i = 1; i < NF; i++) if ($(i + 1) == "Kbits/sec") print $i / 1000 }' "$scratch/lab" >>"$scratch/real"
        grep -q 'NOT TO BE TRUSTED' "$scratch/lab" && echo untrusted >>"$scratch/late"
    done
    trust=$((runs - $(wc -l <"$scratch/late")))
    "$airbraid" run "$file" "${settings[@]}" --set "flow.download.transport={ tcp = \"$algorithm\", profile = \"linux\" }" \
        --duration "$seconds s" --replications "$runs" --json |
        python3 -c 'import json, sys
for run in json.load(sys.stdin)["cells"][0]["runs"]:
    print(next(f for f in run["flows"] if f["name"] == "download")["goodput_bps"] / 1e6)' >"$scratch/ours"
    awk -v name="$name" -v kernel="$algorithm" -v real="$(mean <"$scratch/real")" -v ours="$(mean <"$scratch/ours")" \
        -v trust="$trust of $runs" 'BEGIN { split(real, r, " "); split(ours, o, " ")
        printf "| %s | %s | %.2f ± %.2f | %.2f ± %.2f | %+.1f %% | %s |\n", name, kernel, r[1], r[2], o[1], o[2], 100 * (o[1] / r[1] - 1), trust }'
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "| scenario | TCP | kernel, Mbit/s | simulated, Mbit/s | difference | trusted runs |"
echo "|---|---|---|---|---|---|"
for algorithm in reno cubic; do
    row "one 802.11b channel" "$algorithm" trunk 'trunk.air.members=["ch1"]'
    row "trunk of three" "$algorithm" trunk
    row "the same, BER 1e-5" "$algorithm" trunk 'radio.error={ ber = 1e-5 }'
    row "the same, one channel congested" "$algorithm" congested
    row "link 20 Mbit/s, 10 ms, 1 % loss" "$algorithm" link 'link.wan.loss="1 %"'
    row "chain of three hops" "$algorithm" chain
done
