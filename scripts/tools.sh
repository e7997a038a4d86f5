#!/usr/bin/env bash
# Installs what a step needs from Debian's packages (as root or by sudo), or says exactly what to install.
# usage: scripts/tools.sh build [test] [browser] [python] [dist] [package] [machine] [ns2] [picture]
set -euo pipefail

cd "$(dirname "$0")/.."
# The least that the code needs is said once, in Cargo.toml.
rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# command, package
declare -A package=([cc]=gcc [ld]=binutils [tshark]=tshark [ns]=ns2 [rsvg-convert]=librsvg2-bin [iperf3]=iperf3 [curl]=curl
    [ip]=iproute2 [ethtool]=ethtool [ping]=iputils-ping [python3]=python3 [nft]=nftables [sysctl]=procps [chromium]=chromium [npm]=npm
    [shellcheck]=shellcheck [lintian]=lintian [mmdebstrap]=mmdebstrap [qemu-aarch64-static]=qemu-user-static [skopeo]=skopeo
    [busybox]=busybox [qemu-system-aarch64]=qemu-system-arm [cpio]=cpio)
wanted=()
for step in "$@"; do
    case $step in
        build) wanted+=(cc ld) ;;
        test) wanted+=(tshark iperf3 curl ip ethtool ping python3 nft sysctl shellcheck) ;;
        browser) wanted+=(chromium npm) ;;
        python | dist) wanted+=(python3) ;;
        package) wanted+=(lintian mmdebstrap qemu-aarch64-static skopeo busybox) ;;
        machine) wanted+=(qemu-aarch64-static mmdebstrap qemu-system-aarch64 cpio) ;;
        ns2) wanted+=(ns) ;;
        picture) wanted+=(rsvg-convert) ;;
        *) echo "tools.sh: unknown step '$step'" >&2; exit 2 ;;
    esac
done

# usage: has_rust: whether there is a Rust that is new enough.
has_rust() {
    local found
    found=$(rustc --version 2>/dev/null | awk '{ print $2 }')
    command -v cargo >/dev/null 2>&1 && [ -n "$found" ] &&
        [ "$(printf '%s\n%s\n' "$rust_wanted" "$found" | sort -V | head -n 1)" = "$rust_wanted" ]
}

# Of the rustup that somebody uses, nothing is installed over.
has_rustup() { command -v rustup >/dev/null 2>&1; }

# usage: is_debians: whether the Rust that is used is the one of the security suite.
is_debians() { has_rust && [ "$(rustc --print sysroot)" = /usr ] && [ -e /usr/share/doc/rustc-web ]; }

missing=()
for command in "${wanted[@]}"; do
    command -v "$command" >/dev/null 2>&1 || missing+=("${package[$command]}")
done
# The C library's headers and start files come with a compiler that can link, and not with the bare gcc package.
if [ -e /etc/debian_version ] && [ ! -e /usr/include/stdio.h ]; then missing+=(libc6-dev); fi

# Debian's python3 has no pip and no environments without this package.
if [[ " $* " =~ " python "|" dist " ]] && ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then missing+=(python3-venv); fi

# Debian's own Rust is old; its security suite keeps one for browsers that is new. Cargo fetches crates over TLS.
rust=()
if ! has_rust && ! has_rustup; then
    rust=(rustc-web cargo-web)
    [ -e /etc/ssl/certs/ca-certificates.crt ] || rust+=(ca-certificates)
    [[ " $* " == *" test "* ]] && rust+=(rust-web-clippy rustfmt-web)
    [[ " $* " == *" dist "* ]] && rust+=(rust-web-src)
    if command -v apt-get >/dev/null 2>&1; then missing+=("${rust[@]}"); fi
fi

# Static binaries need a standard library that Debian's Rust has as sources alone: of the compiler's version, so all are named.
if [[ " $* " == *" dist "* ]] && is_debians && [ ! -e /usr/lib/rustlib/src/rust/library/Cargo.lock ]; then
    missing+=(rustc-web cargo-web rust-web-src)
fi

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
    hash -r
fi

if ! has_rust; then
    found=$(rustc --version 2>/dev/null || echo 'no Rust')
    echo "Rust $rust_wanted or later is needed, and this is $found. With rustup:" >&2
    if has_rustup; then echo "    rustup update stable"; else echo "    rustup toolchain install stable"; fi >&2
    exit 1
fi
