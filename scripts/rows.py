#!/usr/bin/env python3
"""Write the table "Every row" of a paper in docs/measurements/reproductions.md anew, from what `airbraid reproduce` has found.

    airbraid reproduce PAPER --json | scripts/rows.py docs/measurements/reproductions.md

Rows that the JSON does not have (`--only`) keep their line.
"""

import json
import re
import sys


def number(x):
    """Four digits; thousands in full."""
    return f"{x:.0f}" if abs(x) >= 1e3 else f"{x:.4g}"


def found(row):
    """Our value with half of its 99 % interval, or what an ordering has found."""
    ours, note = row["ours"], row["note"]
    mean = ours["mean"]
    if row["verdict"] in ("holds", "broken"):
        said = re.match(r"(found|not so:) [^;]*", note)
        if said:
            return said.group(0).strip()
    if mean is None:
        return "-"
    if isinstance(mean, list):
        return ", ".join(number(x) for x in mean)
    half = (ours["ci99"][1] - ours["ci99"][0]) / 2 if ours["ci99"] else 0
    # Equal runs differ by the rounding of their sum.
    return f"{number(mean)} ± {half:.2g}" if half > 1e-9 * abs(mean) else number(mean)


def deviation(row):
    """By how much our mean differs from the paper's value [percent]."""
    mean, paper = row["ours"]["mean"], row["paper"]
    if isinstance(mean, (int, float)) and isinstance(paper, (int, float)) and paper:
        return f"{(mean / paper - 1) * 100:+.1f} %"
    return ""


def line(row, columns):
    """A line of the table."""
    cells = {
        "row": f"`{row['id']}`",
        "unit": row["unit"],
        "paper": row["accept"],
        "ours": found(row),
        "deviation": deviation(row),
        "verdict": row["verdict"],
        "origin": row["origin"],
    }
    return "| " + " | ".join(cells[column] for column in columns) + " |"


def main():
    path = sys.argv[1]
    report = json.load(sys.stdin)
    text = open(path, encoding="utf-8").read()
    start = text.index("\n### Every row", text.index(f"\n## {report['paper']}:"))
    start = text.index("\n| row |", start) + 1
    end = start + re.search(r"\n(?!\|)", text[start:]).start()
    head, rule, *old = text[start:end].split("\n")
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    kept = {re.match(r"\| `([^`]+)`", each).group(1): each for each in old}
    new = {row["id"]: line(row, columns) for row in report["rows"]}
    lines = [new.pop(name, each) for name, each in kept.items()] + list(new.values())
    with open(path, "w", encoding="utf-8") as out:
        out.write(text[:start] + "\n".join([head, rule, *lines]) + text[end:])


main()
