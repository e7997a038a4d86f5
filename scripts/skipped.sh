#!/usr/bin/env bash
# Says how many tests were skipped, and why: a file has a line for each, its name and the reason.
set -euo pipefail
file=$1
if [[ ! -s $file ]]; then
    echo "no test was skipped"
    exit
fi
echo "$(wc -l < "$file") tests were SKIPPED, so nothing is known of what they test (AIRBRAID_REQUIRE_ROOT_TESTS=1 makes that an error):"
cut -f2 "$file" | sort | uniq -c | sort -rn | sed 's/^/ /'
