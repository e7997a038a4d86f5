#!/usr/bin/env bash
# Every shell script of the repository, by shellcheck, and those of OpenWrt and Debian for a plain shell.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.sh' '*.bash' .ci/run packaging/debian packaging/openwrt | while IFS= read -r file; do
    case $(head -n 1 "$file") in
        '#!'*sh* | '# shellcheck shell='*) echo "$file" ;;
        *) case $file in *.sh) echo "$file" ;; esac ;;
    esac
done | xargs shellcheck
