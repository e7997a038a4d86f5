#!/usr/bin/env python3
"""What each mechanism of the bond is worth: tables of the map without it, beside the same tables with all.

    scripts/ablate.py                          every mechanism of scripts/ablations.toml
    scripts/ablate.py --only symbols,silent    those whose names contain one of these words
    scripts/ablate.py --draw 7                 other members, rates, delays and losses
    scripts/ablate.py --together               all of them off at once: two may do the same work
    scripts/ablate.py --unsteady               over members whose delays vary, half of which reorder
    scripts/ablate.py --check                  whether the code of each mechanism is still where the list has it

All mechanisms are switches of one copy of the tree (out/ablate/tree), which is built once. Finished runs are kept, so a
call that was stopped goes on. Every mechanism has the same rows, by the draw. A value is the mean of their changes and
its standard error; a change is a difference, or the logarithm of a ratio in percent.
"""

import argparse
import collections
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BONDING = "crates/engine/src/trunk/bonding"
# Members of at most 60 Mbit/s: a run takes a second. The column by which rows are sorted has a value in each.
TABLES = [
    "random --lossy --sets 8 --cc cubic,bbr --rates-up-to 30 --seconds 30 --by 0",
    "random --lossy --equal --sets 8 --cc cubic,bbr --members-up-to 4 --rates-up-to 30 --seconds 30 --by 0",
    "short --lossy --sets 12 --rates-up-to 60 --size-up-to 1000 --seeds 2 --by 1",
    "stream --lossy --sets 16 --members-up-to 3 --rates-up-to 30 --by 1",
    "map --cells 8 --rates-up-to 60 --seconds 40 --by 0",
    "random --sets 6 --rates-up-to 30 --seconds 40 --by 0",
    "change --pairs 1 --rates-up-to 30 --seconds 40 --by 0",
    "many --sets 3 --rates-up-to 20 --seconds 20 --by 0",
    "rates --members 8 --rates-up-to 60 --by 0",
]
# Both ends of the bond wake late.
LATE_TABLES = [
    "random --sets 8 --cc cubic,bbr --rates-up-to 30 --seconds 30 --by 0",
    "short --lossy --sets 8 --rates-up-to 60 --size-up-to 1000 --by 1",
]
LATE = "late: "
# The tables that can have members whose delays vary.
UNSTEADY = ("random", "short", "stream")
# The columns that are compared: heading, their names in the tables, whether by ratio, whether less is better, whether
# hosts wake late.
VALUES = [
    ("share of the sum", ["of the sum"], False, False, False),
    ("completion", ["completion [s]"], True, True, False),
    ("stream's delay, 99 %", ["delay, 99 % [ms]"], True, True, False),
    ("longest gap, s", ["longest gap [s]", "longest gap of a flow [s]"], False, True, False),
    ("ping, ms", ["ping above idle, median [ms]"], False, True, False),
    ("rate known after, s", ["known after [s]"], False, True, False),
    ("late hosts: share", ["of the sum"], False, False, True),
    ("late hosts: completion", ["completion [s]"], True, True, True),
]
SWITCH = """
/// Whether the mechanism of this number is switched off.
pub fn is_off(number: u32) -> bool {
    static OFF: std::sync::OnceLock<Vec<bool>> = std::sync::OnceLock::new();
    let off = OFF.get_or_init(|| {
        let mut off = vec![false; 256];
        let numbers = std::env::var("AIRBRAID_OFF").unwrap_or_default();
        numbers.split(',').filter_map(|number| number.parse::<usize>().ok()).for_each(|number| off[number] = true);
        off
    });
    off[number as usize]
}
"""
# A host that wakes late: at ticks of 4 ms (a clock of 250 Hz), and where 30 ms of each half second are another's.
HOST = "crates/sim/src/world/host.rs"
HOST_CODE = "let wake = step(machine, *now, input, |output| pending.push_back(work(output)));"
HOST_LATE = """
        let wake = wake.map(|wake| if matches!(id, MachineId::LinkTrunk(_)) { wakes_late(wake) } else { wake });"""
WAKES_LATE = """
fn wakes_late(mut wake: airbraid_engine::Wake) -> airbraid_engine::Wake {
    static LATE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    if *LATE.get_or_init(|| std::env::var_os("AIRBRAID_LATE").is_some()) {
        let ns = wake.at.as_nanos();
        let ns = if ns % 500_000_000 < 30_000_000 { ns - ns % 500_000_000 + 30_000_000 } else { ns };
        wake.at = Instant::from_nanos(ns.div_ceil(4_000_000) * 4_000_000);
    }
    wake
}
"""


def mechanisms():
    return tomllib.loads((ROOT / "scripts/ablations.toml").read_text(encoding="utf-8"))["mechanism"]


def switched():
    """The files of the bond with a switch for each mechanism: {name: text}."""
    if (ROOT / HOST).read_text(encoding="utf-8").count(HOST_CODE) != 1:
        sys.exit(f"scripts/ablate.py: not once in {HOST}: {HOST_CODE}")
    texts = {}
    for number, mechanism in enumerate(mechanisms(), 1):
        for edit in mechanism["edits"]:
            name = f"{BONDING}/{edit['file']}"
            text = texts.get(name) or (ROOT / name).read_text(encoding="utf-8")
            if text.count(edit["code"]) != 1:
                sys.exit(f"scripts/ablations.toml, \"{mechanism['name']}\": not once in {name}: {edit['code']}")
            instead = edit["with"].replace("OFF", f"crate::trunk::bonding::is_off({number})")
            texts[name] = text.replace(edit["code"], instead)
    return texts


def write_tree(tree):
    """Writes the tree with a switch for each mechanism."""
    shutil.rmtree(tree, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in files.split("\0"):
        source = ROOT / name
        if name and source.is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for name, text in switched().items():
        (tree / name).write_text(text, encoding="utf-8")
    with (tree / BONDING / "mod.rs").open("a", encoding="utf-8") as file:
        file.write(SWITCH)
    host = (tree / HOST).read_text(encoding="utf-8")
    (tree / HOST).write_text(host.replace(HOST_CODE, HOST_CODE + HOST_LATE) + WAKES_LATE, encoding="utf-8")


def build(folder):
    """Builds the copy; returns the command that measures."""
    tree = folder / "tree"
    write_tree(tree)
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder / "target")}
    command = ["cargo", "build", "--profile", "checked", "--locked", "--package", "airbraid-campaign"]
    subprocess.run([*command, "--example", "map"], cwd=tree, env=environment, check=True)
    return folder / "target/checked/examples/map"


def rows_of(text):
    """The rows of a table with their values: {(row, column): value}."""
    values, names = {}, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        key = re.search(r"--only (\S+)`", line)
        if line.startswith("| worst by"):
            names = cells[1:-1]
        elif names and key:
            pairs = zip(names, cells[1:-1])
            values |= {(key[1], name): float(cell) for name, cell in pairs if cell != "-"}
    return values


def tables(is_unsteady):
    """The tables of a call: all, or those over members whose delays vary."""
    if is_unsteady:
        return [f"{table} --unsteady" for table in TABLES if table.startswith(UNSTEADY)]
    return [*TABLES, *(LATE + table for table in LATE_TABLES)]


def measure(binary, folder, numbers, draw, is_unsteady=False):
    """The values of all tables with mechanisms switched off: {(table, row, column): value}."""
    off = ",".join(map(str, numbers)) or "0"
    values = {}
    for table in tables(is_unsteady):
        is_late = table.startswith(LATE)
        command = [binary, *table.removeprefix(LATE).split(), "--draw", str(draw), "--bond-only", "--all"]
        command += ["--store", folder / f"store-{off}{'-late' if is_late else ''}"]
        environment = os.environ | {"AIRBRAID_OFF": off} | ({"AIRBRAID_LATE": "1"} if is_late else {})
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        values |= {(table, *key): value for key, value in rows_of(output).items()}
    return values


def change(base, values, names, is_ratio, is_late):
    """Mean of the change of columns, and its standard error; `None` where no table has them."""
    same = [key for key in values if key in base and key[2] in names and key[0].startswith(LATE) == is_late]
    pairs = [(base[key], values[key]) for key in same]
    changes = [math.log(b / a) if is_ratio else b - a for a, b in pairs if not is_ratio or min(a, b) > 0]
    if len(changes) < 2:
        return None
    return statistics.mean(changes), statistics.stdev(changes) / math.sqrt(len(changes))


def line(name, base, values):
    """The line of a mechanism: what it costs beyond two standard errors is bold, what it gains in italics."""
    cells = []
    for _, names, is_ratio, is_cost, is_late in VALUES:
        measured = change(base, values, names, is_ratio, is_late)
        if measured is None:
            continue
        mean, error = measured
        text = f"{100 * mean:+.1f} ± {100 * error:.1f} %" if is_ratio else f"{mean:+.3f} ± {error:.3f}"
        worse = mean if is_cost else -mean
        mark = "**" if worse > 2 * error > 0 else "*" if worse < -2 * error < 0 else ""
        cells.append("0" if mean == error == 0 else mark + text + mark)
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="words of the names of mechanisms, with commas between")
    parser.add_argument("--draw", type=int, default=1, help="number of the draw of all tables")
    parser.add_argument("--together", action="store_true", help="switch all of these off at once: one line")
    parser.add_argument("--unsteady", action="store_true", help="over members whose delays vary, half of which reorder")
    parser.add_argument("--state", type=Path, default=ROOT / "out/ablate", help="folder of the copy and of runs")
    parser.add_argument("--check", action="store_true", help="look for the code of each mechanism, and measure nothing")
    arguments = parser.parse_args()
    if arguments.check:
        switched()
        return
    words = [word.strip() for word in arguments.only.split(",")]
    chosen = [pair for pair in enumerate(mechanisms(), 1) if any(word in pair[1]["name"] for word in words)]
    if not chosen:
        sys.exit(f"no mechanism has one of these words in its name: {', '.join(words)}")
    folder = arguments.state.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    binary = build(folder)
    base = measure(binary, folder, [], arguments.draw, arguments.unsteady)
    counts = collections.Counter((key[2], key[0].startswith(LATE)) for key in base)
    numbers = [sum(counts[name, is_late] for name in names) for _, names, _, _, is_late in VALUES]
    heads = [f"{head} ({number})" for (head, *_), number in zip(VALUES, numbers) if number > 1]
    print("| switched off | " + " | ".join(heads) + " |")
    print("|---|" + "---|" * len(heads), flush=True)
    rows = [([number], mechanism["name"]) for number, mechanism in chosen]
    if arguments.together:
        rows = [([number for number, _ in chosen], " + ".join(mechanism["name"] for _, mechanism in chosen))]
    for place, (off, name) in enumerate(rows, 1):
        print(f"{place}/{len(rows)} {name}", file=sys.stderr)
        print(line(name, base, measure(binary, folder, off, arguments.draw, arguments.unsteady)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nstopped; finished runs are kept: the same call goes on")
    except subprocess.CalledProcessError as error:
        # It has said why.
        sys.exit(f"failed: {error.cmd[0]}")
