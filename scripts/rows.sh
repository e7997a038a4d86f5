#!/usr/bin/env bash
# Compares every row of every paper with tests/rows, or writes it there.
#
#   scripts/rows.sh AIRBRAID quick [--renew]    the short versions of all papers, and in full those of FULL
#   scripts/rows.sh AIRBRAID full [--renew]     everything; hours
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$1 version=$2
shift 2

# Papers that take less than a minute of two processors in full.
FULL=" sanchez2006 "
# The short versions are computed; hours of work can be interrupted and go on from the store.
store=(--no-store)
if [[ $version = full ]]; then store=(); fi
moved=0
compare() {
    echo "reproduce $*"
    "$airbraid" reproduce "$@" --papers papers --rows tests/rows "${store[@]}" || moved=1
}
for folder in papers/*/; do
    paper=$(basename "$folder")
    compare "$paper" --quick "$@"
    if [[ $version = full || $FULL = *" $paper "* ]]; then compare "$paper" "$@"; fi
done
exit "$moved"
