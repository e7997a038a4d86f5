#!/usr/bin/env bash
# airbraid and ns-2.35 on the same work, alternately, on one core: simulated seconds per second of processor time.
# shellcheck disable=SC2059 # the rows of a table have one format
#
#   benches/peers.sh [REPETITIONS]     default 3
#   AIRBRAID=PATH benches/peers.sh     another binary than target/release/airbraid
#
# Installs ns-2 and GNU time from Debian if they are missing (root or sudo), or says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-3}
airbraid=${AIRBRAID:-target/release/airbraid}
if ! [[ $repetitions =~ ^[1-9][0-9]*$ ]]; then
    echo "error: '$repetitions' is no number of repetitions: benches/peers.sh 5" >&2
    exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# name : Tcl scenario : airbraid scenario : simulated seconds
cases=(
    "a two nodes TCP:two_nodes_tcp:two-nodes-tcp:250"
    "b trunk of three:three_pairs_tcp:trunk-of-three:250"
    "c 50 saturated:saturated_50:saturated-50:60"
    "d chain of 12:chain_12:chain-12:300"
    "g grid of 100, AODV:grid_100:grid-100:100"
    "h crowd of 100, AODV:crowd_100:crowd-100:30"
)

# need COMMAND PACKAGE: installs PACKAGE if COMMAND is missing.
need() {
    type -P "$1" >/dev/null && return
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo)
    fi
    if type -P apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
        echo "installing $2" >&2
        "${as_root[@]}" apt-get update -qq
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq "$2" >/dev/null
    else
        echo "error: '$1' is missing. Install it, on Debian: apt-get install $2" >&2
        exit 1
    fi
}

# measure COMMAND...: sets cpu [s] and memory [kB]; the command's output is in $scratch/out.
measure() {
    local TIMEFORMAT='%3U %3S' status=0
    { time "$gnu_time" -f %M -o "$scratch/memory" "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/cpu" || status=$?
    if [ "$status" -ne 0 ]; then
        echo "error: failed: $*" >&2
        cat "$scratch/err" >&2
        exit 1
    fi
    cpu=$(awk '{ s = $1 + $2; print (s > 0.001 ? s : 0.001) }' "$scratch/cpu")
    memory=$(tail -n 1 "$scratch/memory")
}

# median of the numbers given
median() {
    printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# our_numbers: events and the sum of the flows' goodput [bit/s] in airbraid's output
our_numbers() {
    python3 - "$scratch/out" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))["cells"][0]["runs"][0]
print(run["events"], sum(flow["goodput_bps"] for flow in run["flows"]))
PY
}

need ns ns2
need time time
need python3 python3
gnu_time=$(type -P time)
if [ ! -x "$airbraid" ]; then
    cargo build --release --quiet -p airbraid-cli
fi

row='%-20s %10s %12s %8s %12s %12s %10s %10s %10s\n'
printf "$row" case ns-2 airbraid ratio 'events/s' 'ns-2' airbraid 'ns-2' airbraid
printf "$row" '' 'sim s/cpu s' 'sim s/cpu s' '' airbraid 'goodput' 'kbit/s' 'peak MB' 'peak MB'
for entry in "${cases[@]}"; do
    IFS=: read -r name tcl toml seconds <<<"$entry"
    ns_speed=() our_speed=() ns_memory=() our_memory=() our_events=()
    for ((i = 1; i <= repetitions; i++)); do
        measure ns "benches/ns2/$tcl.tcl" seed="$i"
        ns_speed+=("$(awk "BEGIN { print $seconds / $cpu }")")
        ns_memory+=("$(awk "BEGIN { print $memory / 1000 }")")
        ns_rate=$(awk '/^ip_throughput_bps/ { print $4 / 1000 }' "$scratch/out")
        measure "$airbraid" run "scenarios/bench/$toml.toml" --seed "$i" --replications 1 --jobs 1 --json
        our_speed+=("$(awk "BEGIN { print $seconds / $cpu }")")
        our_memory+=("$(awk "BEGIN { print $memory / 1000 }")")
        read -r events rate <<<"$(our_numbers)"
        our_rate=$(awk "BEGIN { print $rate / 1000 }")
        our_events+=("$(awk "BEGIN { print $events / $cpu }")")
    done
    theirs=$(median "${ns_speed[@]}") ours=$(median "${our_speed[@]}")
    printf '%-20s %10.0f %12.0f %8.1f %12.3g %12.0f %10.0f %10.1f %10.1f\n' "$name" "$theirs" "$ours" \
        "$(awk "BEGIN { print $ours / $theirs }")" "$(median "${our_events[@]}")" "$ns_rate" "$our_rate" \
        "$(median "${ns_memory[@]}")" "$(median "${our_memory[@]}")"
done
echo "median of $repetitions alternate runs; (b) in ns-2: three pairs without a trunk, which it does not have"
