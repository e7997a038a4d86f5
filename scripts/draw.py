#!/usr/bin/env python3
"""Draw the number that seeds or sets of a published figure begin from, and record it; in the repository's root.

    scripts/draw.py "kuang2004, full"      prints 417203 and adds a line to docs/measurements/draws.tsv
    scripts/draw.py --check                fails where a recorded number is not what its line gives

The number is a digest of the last commit that changed the code or a scenario, and of the name: it is not known before
the last constant is chosen, and cannot be drawn again until it is liked. The same name and code give the same number.
"""

import hashlib
import subprocess
import sys
from datetime import date
from pathlib import Path

RECORD = Path("docs/measurements/draws.tsv")
HEAD = "date\tcode\tnumber\tname\n"
# What decides a result. The folders of the papers are not in it: the drawn seeds stand there.
CODE = ["crates", "scenarios"]


def git(*arguments):
    """What git prints."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def number(code, name):
    """Between 100,000 and 999,999: six digits, and no seed that anybody types."""
    digest = hashlib.sha256(f"{code} {name}".encode()).digest()
    return 100_000 + int.from_bytes(digest[:8], "big") % 900_000


def recorded():
    """The lines of the record, each as (date, code, number, name)."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()[1:] if RECORD.exists() else []
    return [(day, code, int(drawn), name) for day, code, drawn, name in (line.split("\t") for line in lines)]


def draw(name):
    """The number of the name at the code of today, recorded once."""
    if git("status", "--porcelain", "--", *CODE):
        sys.exit(f"draw: {' and '.join(CODE)} have changes that are not committed; commit them first")
    code = git("log", "-1", "--format=%h", "--abbrev=12", "--", *CODE)
    drawn = number(code, name)
    lines = recorded()
    if all((code, name) != (line[1], line[3]) for line in lines):
        lines.append((date.today().isoformat(), code, drawn, name))
        RECORD.write_text(HEAD + "".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    print(drawn)


def check():
    """Ends with 1 where a recorded number is not its line's."""
    wrong = [line for line in recorded() if line[2] != number(line[1], line[3])]
    for day, code, drawn, name in wrong:
        print(f"draw: {RECORD}: {name} of {day} at {code} is {number(code, name)}, not {drawn}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    check() if sys.argv[1] == "--check" else draw(sys.argv[1])
