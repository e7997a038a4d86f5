#!/usr/bin/env bash
# Speed and memory of the benchmark scenarios: medians of five runs each, and instruction counts where valgrind is there.
# shellcheck disable=SC2059 # the rows of a table have one format
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
        "$airbraid" run "$scenario" --replications 1 --jobs 1 --json >"$scratch/out"
        cpu=$(value cpu_s)
        speeds+=("$(awk "BEGIN { print $(value duration_s) / $cpu }")")
        rates+=("$(awk "BEGIN { print $(value events) / $cpu }")")
    done
    memory=$(peak "$airbraid" run "$scenario" --replications 1 --jobs 1 --json)
    counted=$(instructions "$airbraid" run "$scenario" --replications 1 --jobs 1 --json --duration "$seconds s")
    [ "$counted" = - ] || counted=$(awk "BEGIN { printf \"%.0f\", $counted / $(value events) }")
    printf '%-18s %14.0f %12.3g %10.1f %16s\n' "$name" "$(median "${speeds[@]}")" "$(median "${rates[@]}")" \
        "$(awk "BEGIN { print $memory / 1000 }")" "$counted"
done
echo "medians of $repetitions runs, one core; instructions of a shorter run, set-up included"

# The planner of slots: case 1 of Giustiniano et al. with more access points (alike, so soon solved), and unlike ones, where
# only a bound is proven. Wall-clock of the whole command, every policy.
duties=(
    "" "" ""
    "6/11,3/11,2/11"
    "8/17,5/17,3/17,1/17"
    "9/20,5/20,3/20,2/20,1/20"
    "8/24,6/24,4/24,3/24,2/24,1/24"
    "9/30,7/30,5/30,4/30,3/30,1/30,1/30"
    "10/36,8/36,6/36,4/36,3/36,2/36,2/36,1/36"
    "12/42,8/42,6/42,5/42,4/42,3/42,2/42,1/42,1/42"
    "14/48,9/48,7/48,5/48,4/48,3/48,2/48,2/48,1/48,1/48"
    "15/54,10/54,8/54,6/54,5/54,3/54,2/54,2/54,1/54,1/54,1/54"
    "16/60,10/60,8/60,6/60,5/60,4/60,3/60,3/60,2/60,1/60,1/60,1/60"
)
plan='%-18s %8s %16s %16s %12s\n'
printf "\n$plan" 'access points' slots 'like case 1 [ms]' 'unlike [ms]' 'proven gap'
# milliseconds DUTIES: of the median plan
milliseconds() {
    local times=() begin end
    for ((i = 0; i < repetitions; i++)); do
        begin=$(date +%s%N)
        "$airbraid" plan --duty "$1" --slot 12ms --json >"$scratch/out"
        end=$(date +%s%N)
        times+=("$(((end - begin) / 1000000))")
    done
    median "${times[@]}"
}
for n in 3 4 5 6 7 8 9 10 11 12; do
    alike=1/2
    for ((i = 1; i < n; i++)); do alike+=",1/$((2 * n - 2))"; done
    like=$(milliseconds "$alike")
    unlike=$(milliseconds "${duties[n]}")
    gap=$(grep -oE '"policy":"blind".*' "$scratch/out" | grep -oE '"gap":[0-9.eE+-]+' | head -n 1 | sed 's/.*://')
    printf "$plan" "$n" "$(value slots)" "$like" "$unlike" "$(awk "BEGIN { printf \"%.1f %%\", 100 * $gap }")"
done
