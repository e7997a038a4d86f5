#!/usr/bin/env bash
# Runs two commands side by side. The first shows its output as it comes; the second is nice to it, and shows its own as a
# whole after it. An error of either is the script's. When the script ends, however it does, neither is left running.
# usage: scripts/beside.sh FIRST SECOND
set -euo pipefail

# Each command has a process group of its own, by which it ends with all that it started.
set -m
log=$(mktemp)
bash -c "$1" </dev/null &
first=$!
nice bash -c "$2" </dev/null >"$log" 2>&1 &
second=$!

# shellcheck disable=SC2317 # the trap calls it
end() {
    kill -- -"$first" -"$second" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -f "$log"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

wait "$first"
status=0
wait "$second" || status=$?
cat "$log"
exit "$status"
