#!/usr/bin/env python3
"""Run the commands behind the documents' measured numbers and say what each found; in the repository's root.

    scripts/claims.py                    runs what has no result yet, and writes docs/measurements/claims.md
    scripts/claims.py --only peers,s1    some of them; --minutes 5 leaves out what takes longer
    scripts/claims.py --again            runs what has a result, too
    scripts/claims.py --list             prints them, and what is done

docs/measurements/claims.toml is the list. What a command printed is kept in out/claims as soon as it is there: Ctrl-C loses
only the run under way. A command that has changed is run again; its values are judged by what it printed, so that a value
can be added without. What needs root, ns-2 or another program that is missing is said to be not run. `AIRBRAID` names
another command than target/release/airbraid.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

LIST = Path("docs/measurements/claims.toml")
TABLE = Path("docs/measurements/claims.md")
KEPT = Path("out/claims")
BUILT = "target/release/airbraid"
# Programs behind the words of `needs`, beside root.
PROGRAMS = {"ns2": "ns", "iperf3": "iperf3", "perf": "perf", "valgrind": "valgrind"}
HEAD = """# Claims

What the commands behind the documents' numbers found, by `make claims` ([the list](claims.toml)). "Exit" is a command
that judges by itself: tests, expectations of scenarios, rows of papers. A number without a tolerance is shown beside
what was found, and not judged: speeds of a shared machine.

| claim | value | claimed | found | verdict | date | commit |
|---|---|---|---|---|---|---|
"""


def digest(claim):
    """Of what decides what is printed."""
    return hashlib.sha256(claim["command"].encode()).hexdigest()[:16]


def missing(claim):
    """What it needs and is not here."""
    for need in claim.get("needs", []):
        if need == "root" and os.geteuid() != 0:
            return "root"
        if need != "root" and shutil.which(PROGRAMS[need]) is None:
            return PROGRAMS[need]
    return None


def found(value, output):
    """The number that `value` asks for: a metric of the JSON of a run, or a group of a regular expression."""
    if "metric" in value:
        cell = json.loads(output)["cells"][value.get("cell", 0)]
        return cell["summary"][value["metric"]]["mean"] * value.get("times", 1)
    match = re.search(value["find"], output, re.MULTILINE)
    return None if match is None else float(match[1].replace(",", "")) * value.get("times", 1)


def judge(value, number):
    """Within or off by the tolerance, a share of the claimed value or a distance; shown where there is none."""
    if number is None:
        return "missing"
    if "within" not in value:
        return "shown"
    within = value["within"]
    share = isinstance(within, str)
    distance = float(within.removesuffix("%")) / 100 * abs(value["claimed"]) if share else within
    return "within" if abs(number - value["claimed"]) <= distance * (1 + 1e-9) else "off"


def section_rows(where):
    """The rows with numbers of a section's tables."""
    page, anchor = where.split("#")
    rows, inside = [], False
    for line in Path(page).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            words = line.lstrip("#").strip().lower()
            inside = "".join(c for c in words if c.isalnum() or c in " -_").replace(" ", "-") == anchor
        elif inside and line.startswith("|") and re.search(r"\d", line):
            rows.append(line)
    return rows


def run(claim):
    """Runs it; returns its exit status and its seconds. What it prints is kept."""
    environment = dict(os.environ)
    command = environment.setdefault("AIRBRAID", BUILT)
    environment["PATH"] = f"{Path(command).resolve().parent}:{environment['PATH']}"
    begun = time.monotonic()
    done = subprocess.Popen(
        ["bash", "-c", claim["command"]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
        text=True, start_new_session=True,
    )
    try:
        output, _ = done.communicate()
    except KeyboardInterrupt:
        os.killpg(done.pid, signal.SIGTERM)
        raise
    (KEPT / f"{claim['id']}.txt").write_text(output, encoding="utf-8")
    return done.returncode, time.monotonic() - begun


def judged(claim, status):
    """Its rows of the table by what it has printed: value, claimed, found, verdict."""
    output = (KEPT / f"{claim['id']}.txt").read_text(encoding="utf-8")
    rows = []
    judges_itself = not claim.get("values") and not claim.get("rows")
    if judges_itself or status not in claim.get("status", [0]):
        rows.append(["exit", "0", str(status), "within" if status == 0 else "off"])
    for where in claim.get("rows", []):
        # A test prints its name before its first row.
        lines = {line[line.find("|"):] for line in output.splitlines() if "|" in line}
        expected = section_rows(where)
        there = sum(row in lines for row in expected)
        verdict = "within" if there == len(expected) else "off"
        rows.append([f"rows of {where}, letter by letter", str(len(expected)), str(there), verdict])
    for value in claim.get("values", []):
        try:
            number = found(value, output)
        except (ValueError, KeyError, IndexError):
            number = None
        shown = "-" if number is None else with_unit(value, f"{number:.5g}")
        rows.append([value["is"], with_unit(value, value["claimed"]), shown, judge(value, number)])
    return rows


def with_unit(value, number):
    return f"{number} {value['unit']}" if "unit" in value else str(number)


def before():
    """The lines of the table that is there, by claim: what another clone has found stays until it is found again."""
    lines = {}
    text = TABLE.read_text(encoding="utf-8").split("## Commands")[0] if TABLE.exists() else ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[5]:
            lines.setdefault(cells[0], []).append(cells)
    return lines


def says_the_same(claim, lines):
    """Whether lines of the table are of the values that the list claims now."""
    values = {(value["is"], with_unit(value, value["claimed"])) for value in claim.get("values", [])}
    named = {(line[1], line[2]) for line in lines if line[1] != "exit"}
    return bool(lines) and ("rows" in claim or values == named)


def write(claims):
    """The table of all claims, in the order of the list."""
    lines, earlier = [], before()
    for claim in claims:
        kept = read(claim)
        if kept is None and says_the_same(claim, earlier.get(claim["id"], [])):
            lines += earlier[claim["id"]]
        elif kept is None:
            why = missing(claim)
            lines.append([claim["id"], "", "", "", f"not run{f': needs {why}' if why else ''}", "", ""])
        else:
            lines += [[claim["id"], *row, kept["date"], kept["commit"]] for row in judged(claim, kept["status"])]
    text = "".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |\n" for line in lines)
    one_line = {claim["id"]: " ".join(claim["command"].split()).replace("|", "\\|") for claim in claims}
    commands = "".join(f"| {name} | `{command}` |\n" for name, command in one_line.items())
    TABLE.write_text(HEAD + text + "\n## Commands\n\n| claim | command |\n|---|---|\n" + commands, encoding="utf-8")


def read(claim):
    """Its kept result, if its command is still the same."""
    path = KEPT / f"{claim['id']}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return kept if kept and kept["digest"] == digest(claim) else None


def is_done(claim):
    """Whether it has a result. A command that did not get through is run again."""
    kept = read(claim)
    return kept is not None and all(row[3] != "missing" for row in judged(claim, kept["status"]))


def keep(claim, status, seconds):
    """Writes a result in one step."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    kept = {"digest": digest(claim), "status": status, "seconds": round(seconds), "commit": commit}
    kept["date"] = datetime.date.today().isoformat()
    path = KEPT / f"{claim['id']}.json"
    path.with_suffix(".new").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    path.with_suffix(".new").replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="these, by comma")
    parser.add_argument("--minutes", type=float, help="nothing that takes longer")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument("--list", action="store_true", help="print them, and what is done")
    options = parser.parse_args()
    claims = tomllib.loads(LIST.read_text(encoding="utf-8"))["claim"]
    names = options.only.split(",") if options.only else [claim["id"] for claim in claims]
    if unknown := set(names) - {claim["id"] for claim in claims}:
        sys.exit(f"claims: no claim is called {', '.join(sorted(unknown))}")
    chosen = [claim for claim in claims if claim["id"] in names]
    chosen = [claim for claim in chosen if options.minutes is None or claim["minutes"] <= options.minutes]
    if options.list:
        for claim in chosen:
            print(f"{claim['id']:28} {claim['minutes']:6} min  {'done' if is_done(claim) else 'open'}")
        return
    if not Path(os.environ.get("AIRBRAID", BUILT)).is_file():
        sys.exit(f"claims: {os.environ.get('AIRBRAID', BUILT)} is not there: make build, or AIRBRAID=FILE")
    KEPT.mkdir(parents=True, exist_ok=True)
    due = [claim for claim in chosen if options.again or not is_done(claim)]
    due.sort(key=lambda claim: claim["minutes"])
    off = 0
    try:
        for number, claim in enumerate(due):
            left = sum(later["minutes"] for later in due[number:])
            print(f"[{number + 1}/{len(due)}, {left:.0f} min left] {claim['id']}", flush=True)
            if why := missing(claim):
                print(f"  not run: it needs {why}")
                continue
            status, seconds = run(claim)
            keep(claim, status, seconds)
            for is_, claimed, number_, verdict in judged(claim, status):
                print(f"  {verdict:8} {is_}: claimed {claimed}, found {number_}")
                off += verdict in ("off", "missing")
            write(claims)
    except KeyboardInterrupt:
        print("\nclaims: interrupted; the next call goes on here")
        sys.exit(130)
    finally:
        write(claims)
    sys.exit(1 if off else 0)


if __name__ == "__main__":
    main()
