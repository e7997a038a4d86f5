#!/usr/bin/env bash
# Runs each binary of a release on its architecture, by qemu where that is another: version, run, reproduce --quick, up.
# usage: scripts/emulate.sh OUT
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(realpath "${1:?usage: scripts/emulate.sh OUT}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# usage: try NAME COMMAND...: one line: what was tried, and whether it went well.
failures=0
try() {
    local name=$1
    shift
    if timeout 1200 "$@" >"$work/said" 2>&1; then
        printf '  %-24s fine\n' "$name"
    else
        printf '  %-24s FAILED\n' "$name"
        sed 's/^/    /' "$work/said" | tail -n 20
        failures=$((failures + 1))
    fi
}

for architecture in x86_64 aarch64 armv7; do
    for variant in airbraid-daemon airbraid; do
        binary=$(find "$out" -name "$variant-*-$architecture" -type f | head -n 1)
        [ -n "$binary" ] || continue
        case $architecture in x86_64) run=("$binary") ;; aarch64) run=(qemu-aarch64-static "$binary") ;; *) run=(qemu-arm-static "$binary") ;; esac
        echo "${binary##*/}"
        try --version "${run[@]}" --version
        try man "${run[@]}" man "$work/man"
        rm -rf "$work/site"
        try 'new daemon' "${run[@]}" new daemon "$work/site"
        try 'up --check' "${run[@]}" up --check "$work/site/hub.toml"
        if [ "$variant" = airbraid ]; then
            try run "${run[@]}" run "$root/scenarios/examples/three_channels.toml" --duration '2 s' --json
            # The same bytes on every architecture, wall-clock times aside.
            grep -v '^$' "$work/said" | sed -E 's/"(wall|cpu)_s":[^,}]*//g' | sha256sum | sed 's/^/  digest of the run: /' | cut -c 1-38
            try 'reproduce --quick' "${run[@]}" reproduce giustiniano2013 --quick --no-store --json
        fi
        if [ "$(id -u)" -eq 0 ] && [ -e /dev/net/tun ]; then
            sed -i 's/^name .*"air0"/name = "emu0"/' "$work/site/hub.toml"
            # shellcheck disable=SC2016 # the inner shell expands it
            try up unshare --net bash -c 'ip link set lo up; timeout --signal=TERM 12 "$@"; code=$?; [ $code = 124 ] || exit $code' up \
                "${run[@]}" up "$work/site/hub.toml" --foreground
        fi
    done
done
[ "$failures" -eq 0 ] || { echo "$failures FAILED" >&2; exit 1; }
