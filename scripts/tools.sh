#!/usr/bin/env bash
# Installs what a step needs from Debian's packages (as root or by sudo), or says exactly what to install.
# usage: scripts/tools.sh build [test] [browser] [python] [ns2]
set -euo pipefail

rust_wanted=1.95

# command, package
declare -A package=([cc]=gcc [ld]=binutils [tshark]=tshark [ns]=ns2 [rsvg-convert]=librsvg2-bin [iperf3]=iperf3 [curl]=curl
    [ip]=iproute2 [ethtool]=ethtool [ping]=iputils-ping [python3]=python3 [nft]=nftables [sysctl]=procps [chromium]=chromium [npm]=npm)
wanted=()
for step in "$@"; do
    case $step in
        build) wanted+=(cc ld) ;;
        test) wanted+=(tshark iperf3 curl ip ethtool ping python3 nft sysctl) ;;
        browser) wanted+=(chromium npm) ;;
        python) wanted+=(python3) ;;
        ns2) wanted+=(ns) ;;
        picture) wanted+=(rsvg-convert) ;;
        *) echo "tools.sh: unknown step '$step'" >&2; exit 2 ;;
    esac
done

missing=()
for command in "${wanted[@]}"; do
    command -v "$command" >/dev/null 2>&1 || missing+=("${package[$command]}")
done
# The C library's headers and start files come with a compiler that can link, and not with the bare gcc package.
if [ -e /etc/debian_version ] && [ ! -e /usr/include/stdio.h ]; then missing+=(libc6-dev); fi

# Debian's python3 has no pip and no environments without this package.
if [[ " $* " == *" python "* ]] && ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then missing+=(python3-venv); fi

if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Missing: ${missing[*]} (the names of Debian's packages). Install them and try again." >&2
        exit 1
    fi
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "Missing: ${missing[*]}. As root: apt-get install ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if ! command -v cargo >/dev/null 2>&1; then
    echo "Missing: Rust $rust_wanted or later. Debian 12 has 1.63, which is too old; install rustup, then:" >&2
    echo "    rustup toolchain install $rust_wanted --component clippy --component rustfmt" >&2
    exit 1
fi
found=$(rustc --version | awk '{ print $2 }')
if [ "$(printf '%s\n%s\n' "$rust_wanted" "$found" | sort -V | head -n 1)" != "$rust_wanted" ]; then
    echo "Rust $rust_wanted or later is needed, and this is $found. With rustup:" >&2
    echo "    rustup update stable" >&2
    exit 1
fi
