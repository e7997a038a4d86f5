#!/usr/bin/env bash
# Runs each binary of a release on its architecture, by qemu where that is another: version, run, reproduce --quick, and a
# bond between two network namespaces: of this machine as root, of an emulated one where the architecture is another. A run
# has the same results on all architectures.
# usage: scripts/emulate.sh OUT [ARCHITECTURE]...
set -euo pipefail

# usage: far COMMAND...: in the office's network namespace.
far() { nsenter --net="/proc/$office_space/ns/net" "$@"; }

# usage: ended PROCESS NAME: ends a daemon, which says how it went.
ended() {
    kill -TERM "$1"
    wait "$1" || { echo "$2 ended with $?"; return 1; }
}

# A bond of two uplinks between this network namespace, the hub, and another one, the office.
# usage: emulate.sh --bond FOLDER NAME PROGRAM [ARGUMENT]...     FOLDER is for keys and files, NAME is the daemons'
bond() {
    local folder=$1 name=$2 answered=0 links
    shift 2
    unshare --net sleep infinity &
    office_space=$!
    # shellcheck disable=SC2064 # the process of now
    trap "kill $office_space \${hub:-} \${office:-} 2>/dev/null || true" EXIT
    until [ "$(readlink "/proc/$office_space/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
    ip link set lo up
    ip address add 198.51.100.7/32 dev lo
    for uplink in 1:eth0 2:wwan0; do
        ip link add "to${uplink#*:}" type veth peer name "${uplink#*:}" netns "$office_space"
        ip address add "192.0.2.${uplink%:*}1/28" dev "to${uplink#*:}"
        ip link set "to${uplink#*:}" up
        far ip address add "192.0.2.${uplink%:*}2/28" dev "${uplink#*:}"
        far ip link set "${uplink#*:}" up
        far ip route add default via "192.0.2.${uplink%:*}1" dev "${uplink#*:}" metric "${uplink%:*}"
    done
    rm -rf "$folder"
    "$@" new daemon "$folder"
    # Beside daemons of this machine, which may have these names.
    for end in hub office; do mv "$folder/$end.toml" "$folder/$name-$end.toml"; done
    "$@" up "$folder/$name-hub.toml" --foreground &
    hub=$!
    nsenter --net="/proc/$office_space/ns/net" "$@" up "$folder/$name-office.toml" --foreground &
    office=$!
    # An emulated handshake takes its time.
    for _ in $(seq 60); do
        if far ping -q -c 3 -i 0.3 -W 2 10.77.0.1; then answered=1; break; fi
        sleep 1
    done
    [ "$answered" = 1 ] || { echo "the hub does not answer through the tunnel"; return 1; }
    links=$("$@" status "$name-office" --json | grep -o '"uplink": *"[a-z]*"' | sort -u | wc -l)
    [ "$links" = 2 ] || { echo "$links of two uplinks are in the status"; return 1; }
    ended "$office" office && ended "$hub" hub || return 1
    if far ip link show air0 2>/dev/null; then echo "the interface is left"; return 1; fi
}

if [ "${1:-}" = --bond ]; then
    shift
    bond "$@"
    exit
fi

cd "$(dirname "$0")/.."
root=$PWD
out=$(realpath "${1:?usage: scripts/emulate.sh OUT [ARCHITECTURE]...}")
shift
wanted=("$@")
[ $# -gt 0 ] || wanted=(x86_64 aarch64 armv7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# usage: try NAME COMMAND...: one line: what was tried, and whether it went well.
failures=0
try() {
    local name=$1 since=$SECONDS
    shift
    if timeout 1800 "$@" >"$work/said" 2>"$work/complained"; then
        printf '  %-24s fine, %d s\n' "$name" $((SECONDS - since))
    else
        printf '  %-24s FAILED\n' "$name"
        sed 's/^/    /' "$work/said" "$work/complained" | tail -n 30
        failures=$((failures + 1))
    fi
}

# usage: same: the run that was tried has the results of the one before it, times of the clock aside.
same() {
    local digest
    digest=$(sed -E 's/"(wall|cpu)_s":[^,}]*//g' "$work/said" | sha256sum | cut -c 1-12)
    [ "${first:=$digest}" = "$digest" ] || { echo "  results differ: $digest, $first before"; failures=$((failures + 1)); }
    echo "  digest of the run        $digest"
}

tried=0
for architecture in "${wanted[@]}"; do
    for variant in airbraid-daemon airbraid; do
        binary=$(find "$out" -name "$variant-[0-9]*-$architecture" -type f | head -n 1)
        [ -n "$binary" ] || { echo "emulate.sh: $out has no $variant for $architecture" >&2; continue; }
        tried=$((tried + 1))
        case $architecture in
            "$(uname -m)") run=("$binary") ;;
            armv7) run=(qemu-arm-static "$binary") ;;
            *) run=("qemu-$architecture-static" "$binary") ;;
        esac
        echo "${binary##*/}, $(stat -c %s "$binary") bytes"
        try --version "${run[@]}" --version
        try man "${run[@]}" man "$work/man"
        rm -rf "$work/site"
        try 'new daemon' "${run[@]}" new daemon "$work/site"
        if [ "$variant" = airbraid ]; then
            try run "${run[@]}" run "$root/scenarios/examples/three_channels.toml" --duration '2 s' --json
            same
            # The paper that takes the least, row by row beside what is committed.
            try 'reproduce --quick' "${run[@]}" reproduce wifi --quick --no-store --rows "$root/tests/rows"
        fi
        if [ "$architecture" != "$(uname -m)" ]; then
            try up "$root/scripts/machine.sh" "$architecture" "$binary"
        elif [ "$(id -u)" -eq 0 ] && [ -e /dev/net/tun ]; then
            try 'up --check' "${run[@]}" up --check "$work/site/hub.toml"
            try up unshare --net "$root/scripts/emulate.sh" --bond "$work/bond" "emulated-$$" "${run[@]}"
        else
            echo "  up                       not tried: it needs root and /dev/net/tun"
        fi
    done
done
[ "$tried" -gt 0 ] || { echo "emulate.sh: nothing was run: make dist" >&2; exit 1; }
[ "$failures" -eq 0 ] || { echo "$failures FAILED" >&2; exit 1; }
