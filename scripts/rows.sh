#!/usr/bin/env bash
# Compares every row of every paper with tests/rows, or writes it there.
#
#   scripts/rows.sh AIRBRAID quick [--renew]    the short versions of all papers, and in full what takes less than a minute
#   scripts/rows.sh AIRBRAID full [--renew]     everything; hours
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$1 version=$2
shift 2

papers=(papers/*/)
moved=0
compare() {
    echo "reproduce $*"
    # Nothing from a store: what is compared is computed.
    "$airbraid" reproduce "$@" --papers papers --rows tests/rows --no-store || moved=1
}
for paper in "${papers[@]}"; do
    paper=$(basename "$paper")
    compare "$paper" --quick "$@"
    [[ $version = full || $paper = sanchez2006 ]] && compare "$paper" "$@"
done
exit "$moved"
