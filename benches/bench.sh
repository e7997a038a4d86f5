#!/usr/bin/env bash
# Speed and memory of the benchmark scenarios: medians of five runs each, and instruction counts where valgrind is there.
#
#   benches/bench.sh AIRBRAID [REPETITIONS]
#
# Timing on shared machines is noise: compare ratios of one run, and instructions of two builds.
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$1
repetitions=${2:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cases=(
    "a two nodes TCP:two-nodes-tcp:20"
    "b trunk of three:trunk-of-three:20"
    "c 50 saturated:saturated-50:3"
    "d chain of 12:chain-12:60"
)

# value KEY: the number under KEY in the JSON of the last run
value() {
    grep -oE "\"$1\": *[0-9.eE+-]+" "$scratch/out" | head -n 1 | sed 's/.*: *//'
}

median() {
    printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# peak COMMAND...: resident memory at its largest [kB], from the kernel's account of the ended child
peak() {
    python3 - "$@" <<'PY' 2>/dev/null || echo 0
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}

instructions() {
    command -v valgrind >/dev/null || { echo -; return; }
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >"$scratch/out" | awk '/refs:/ { gsub(",", "", $NF); print $NF }'
}

row='%-18s %14s %12s %10s %16s\n'
printf "$row" scenario 'sim s / CPU s' 'events / s' 'peak MB' 'instructions/event'
for entry in "${cases[@]}"; do
    IFS=: read -r name file seconds <<<"$entry"
    scenario=scenarios/bench/$file.toml
    speeds=() rates=()
    for ((i = 0; i < repetitions; i++)); do
        "$airbraid" run "$scenario" --jobs 1 --json >"$scratch/out"
        cpu=$(value cpu_s)
        speeds+=("$(awk "BEGIN { print $(value duration_s) / $cpu }")")
        rates+=("$(awk "BEGIN { print $(value events) / $cpu }")")
    done
    memory=$(peak "$airbraid" run "$scenario" --jobs 1 --json)
    counted=$(instructions "$airbraid" run "$scenario" --jobs 1 --json --duration "$seconds s")
    [ "$counted" = - ] || counted=$(awk "BEGIN { printf \"%.0f\", $counted / $(value events) }")
    printf '%-18s %14.0f %12.3g %10.1f %16s\n' "$name" "$(median "${speeds[@]}")" "$(median "${rates[@]}")" \
        "$(awk "BEGIN { print $memory / 1000 }")" "$counted"
done
echo "medians of $repetitions runs, one core; instructions of a shorter run, set-up included"
