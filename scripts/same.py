#!/usr/bin/env python3
"""Tell whether two builds compute the same: every scenario, and the quick reproduction of every paper.

    scripts/same.py record  DIR --airbraid target/checked/airbraid     before a change
    scripts/same.py compare DIR --airbraid target/checked/airbraid     after it

Compares the JSON of `airbraid run` and `airbraid reproduce --quick` number for number and in order; what measures the
machine (seconds of CPU) is left out. A name that was changed on purpose stands in `RENAMED_KEYS` or `RENAMED_PATHS`
with its new form: it is applied to what was recorded. A scenario that was not there before counts as unlike.
Exit status: 0 all the same, 1 a difference or a command that did not run.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Measures of the machine, not of the model.
OF_THE_MACHINE = {"cpu_s", "wall_s", "elapsed_s", "version", "made", "recalled", "computed"}
# Keys of the JSON: old name -> new name.
RENAMED_KEYS: dict[str, str] = {"asks": "question"}
# Paths of metrics, as regular expressions on keys and texts: old form -> new form.
RENAMED_PATHS: list[tuple[str, str]] = [
    (r"^tunnel\.(.+\..+\..+)\.sent$", r"trunk.\1.sent_packets"),
    (r"^tunnel\.(.+\..+\..+)\.lost$", r"trunk.\1.lost_frames"),
    (r"^tunnel\.(.+\..+\..+)\.spurious$", r"trunk.\1.spurious_losses"),
    (r"^tunnel\.(.+\..+\..+)\.path_mtu$", r"trunk.\1.path_mtu_bytes"),
    (r"^tunnel\.", "trunk."),
]
# What a trunk over links had under another key, in JSON.
OF_A_MEMBER = {"sent": "sent_packets", "lost": "lost_frames", "spurious": "spurious_losses"}
# The order of a trunk's numbers in a summary was another where it is over links, and it had fewer.
OF_A_BOND = re.compile(r"^trunk\.[^.]+\.[^.]+\.[^.]+\.share$")


def renamed(text: str) -> str:
    """The present form of a key or text of a recorded JSON."""
    text = RENAMED_KEYS.get(text, text)
    for old, new in RENAMED_PATHS:
        text = re.sub(old, new, text)
    return text


def one_list_of_trunks(run: dict) -> dict:
    """A run as it was when trunks over links had a list of their own, with both kinds in one."""
    run = dict(run)
    bonds = run.pop("tunnels")
    for bond in bonds:
        renewed = [{OF_A_MEMBER.get(key, key): item for key, item in member.items()} for member in bond["members"]]
        bond["members"] = renewed
    run["trunks"] = run["trunks"] + bonds
    return run


def present(value):
    """A recorded JSON value with its names brought up to date, without what measures the machine."""
    if isinstance(value, dict):
        value = one_list_of_trunks(value) if "tunnels" in value else value
        # A member without an MTU had a path MTU of 0; now it has none.
        unknown = [key for key, item in value.items() if key.endswith(".path_mtu") and item["mean"] == 0]
        value = {key: item for key, item in value.items() if key not in unknown}
        return {renamed(key): present(item) for key, item in value.items() if key not in OF_THE_MACHINE}
    if isinstance(value, list):
        return [present(item) for item in value]
    return renamed(value) if isinstance(value, str) else value


def comparable(before: dict, after: dict) -> tuple[dict, dict]:
    """Two objects; of trunks over links without the numbers that are new, and in one order."""
    is_bond = {"managed", "hold_time_s"} <= set(before) or {"link", "share"} <= set(before)
    of_bonds = {key for key in after if is_bond or key.startswith("trunk.")}
    if not is_bond and not any(OF_A_BOND.match(key) for key in after):
        return before, after
    after = {key: item for key, item in after.items() if key not in of_bonds or key in before}
    return dict(sorted(before.items())), dict(sorted(after.items()))


def difference(before, after, path=""):
    """The first place where two JSON values differ, or None. Objects are compared with the order of their keys."""
    if isinstance(before, dict) and isinstance(after, dict):
        before, after = comparable(before, after)
        if list(before) != list(after):
            gone = [key for key in before if key not in after]
            new = [key for key in after if key not in before]
            return f"{path}: keys gone {gone[:5]}, new {new[:5]}" if gone or new else f"{path}: other order of keys"
        return next(filter(None, (difference(before[key], after[key], f"{path}.{key}") for key in before)), None)
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return f"{path}: {len(before)} entries before, {len(after)} now"
        pairs = zip(before, after, strict=True)
        return next(filter(None, (difference(*pair, f"{path}[{i}]") for i, pair in enumerate(pairs))), None)
    return None if before == after and type(before) is type(after) else f"{path}: {before!r} before, {after!r} now"


def works(root: Path) -> dict[str, list[str]]:
    """The commands that are compared, by name: every scenario, every paper."""
    scenarios = sorted((root / "scenarios").rglob("*.toml"))
    papers = sorted(path.parent.name for path in (root / "papers").glob("*/figures.toml"))
    runs = {str(path.relative_to(root)): ["run", str(path.relative_to(root)), "--json"] for path in scenarios}
    return runs | {f"papers/{name}": ["reproduce", name, "--quick", "--json", "--no-store"] for name in papers}


def outcome(airbraid: str, arguments: list[str], root: Path) -> dict:
    """The exit status of a command and the JSON that it printed."""
    done = subprocess.run([airbraid, *arguments, "--jobs", "1"], cwd=root, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join([airbraid, *arguments])}: exit status {done.returncode}\n{done.stderr}")
    return {"status": done.returncode, "json": json.loads(done.stdout)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the outcomes of the first build are kept")
    parser.add_argument("--airbraid", required=True, help="the command")
    parser.add_argument("--only", default="", help="names of scenarios and papers that contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="commands at a time")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    airbraid = str(Path(options.airbraid).resolve())
    todo = {name: work for name, work in works(root).items() if options.only in name}
    if options.action == "record":
        options.directory.mkdir(parents=True, exist_ok=True)

    def handle(item: tuple[str, list[str]]) -> tuple[str, str | None]:
        name, work = item
        kept = options.directory / (name.replace("/", ",") + ".json.gz")
        if options.action == "compare" and not kept.exists():
            return name, "was not there before: nothing to compare with"
        now = outcome(airbraid, work, root)
        if options.action == "record":
            kept.write_bytes(gzip.compress(json.dumps(now).encode(), mtime=0))
            return name, None
        before = json.loads(gzip.decompress(kept.read_bytes()))
        current = {"status": now["status"], "json": without_the_machine(now["json"])}
        return name, difference(present(before), current)

    unlike = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for count, (name, found) in enumerate(pool.map(handle, todo.items()), 1):
            if sys.stderr.isatty():
                print(f"\r{count}/{len(todo)} ", end="", file=sys.stderr, flush=True)
            if found:
                unlike += 1
                print(f"{name}: {found}")
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"{len(todo)} recorded" if options.action == "record" else f"{len(todo) - unlike} the same, {unlike} not")
    return 1 if unlike else 0


def without_the_machine(value):
    """A JSON value without what measures the machine."""
    if isinstance(value, dict):
        return {key: without_the_machine(item) for key, item in value.items() if key not in OF_THE_MACHINE}
    if isinstance(value, list):
        return [without_the_machine(item) for item in value]
    return value


if __name__ == "__main__":
    sys.exit(main())
