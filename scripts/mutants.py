#!/usr/bin/env python3
"""The share of code changes that the tests notice: cargo-mutants' list, a sample drawn from it, one build for all.

    cargo install cargo-mutants --locked
    scripts/mutants.py draw "mutation"     lists the mutants, draws the sample (--sample 600), sorts out what cannot compile
    scripts/mutants.py build               builds all tests once, and notes which test reaches which mutant
    scripts/mutants.py run                 runs each mutant against the tests that reach it; goes on where it stopped
    scripts/mutants.py score               prints the score by crate and by file, and the survivors

cargo-mutants builds once for each mutant: minutes each, days for a sample. Here every drawn mutant is compiled into one
copy of the tree, as a branch of its function, and an environment variable chooses one. A mutant is run against the tests
of its own crate that call its function, the fastest first, until one fails; if none does, against those of the other
suites. The state (the copy, its build, the outcome of each mutant) is in out/mutants, or where --state says.

After tests were added: `build`, then `run --again`, which tries the survivors again.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["engine", "mac", "net"]
# In the order in which a survivor of its own crate's tests is tried: packages, then committed scenarios, then rows.
PACKAGES = ["engine", "mac", "net", "sim", "tests", "campaign"]
# Drawn beyond the sample, in place of mutants that cannot compile.
SPARE = 1.25
# A test that hangs is stopped after the greater of these; cargo-mutants' least is 20 s, too.
LEAST_LIMIT_S, LIMIT_FACTOR = 20, 10
# A mutant that allocates without end is stopped by this [byte].
MEMORY = 4 << 30
COLUMNS = ["id", "crate", "key", "state", "code"]

SWITCH = """//! Which mutant runs, and which were reached: written by scripts/mutants.py into its copy of the tree.
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ACTIVE: OnceLock<u32> = OnceLock::new();
static RECORD: OnceLock<Option<std::fs::File>> = OnceLock::new();
static REACHED: [AtomicBool; 1 << 15] = [const { AtomicBool::new(false) }; 1 << 15];

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// The mutant that runs, or 0; notes that these could have.
pub fn among(mutants: &[u32]) -> u32 {
    let record = RECORD.get_or_init(|| {
        let path = variable("AIRBRAID_MUTANTS_REACHED")?;
        std::fs::OpenOptions::new().create(true).append(true).open(path).ok()
    });
    if let Some(mut file) = record.as_ref() {
        for mutant in mutants {
            if !REACHED[*mutant as usize].swap(true, Ordering::Relaxed) {
                let _ = file.write_all(format!("{mutant}\\n").as_bytes());
            }
        }
    }
    *ACTIVE.get_or_init(|| variable("AIRBRAID_MUTANT").and_then(|text| text.parse().ok()).unwrap_or(0))
}
"""

# What is no code: comments, strings, characters. A lifetime is no character.
NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\bb?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^\\'])'", re.DOTALL
)


class State:
    """The files of a run."""

    def __init__(self, folder):
        self.folder = folder
        self.tree = folder / "tree"
        self.sample = folder / "sample.tsv"
        self.tests = folder / "tests.json"
        self.outcomes = folder / "outcomes.tsv"

    def read_sample(self):
        """The drawn mutants in the order of the draw."""
        lines = self.sample.read_text(encoding="utf-8").splitlines()[1:]
        rows = [dict(zip(COLUMNS, line.split("\t"))) for line in lines]
        return [row | {"id": int(row["id"])} for row in rows]

    def write_sample(self, rows):
        lines = ["\t".join(str(row[column]) for column in COLUMNS) for row in rows]
        self.sample.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n", encoding="utf-8")

    def read_outcomes(self):
        """The last outcome of each mutant: (outcome, suite, test)."""
        lines = self.outcomes.read_text(encoding="utf-8").splitlines() if self.outcomes.exists() else []
        return {int(fields[0]): tuple(fields[1:4]) for fields in (line.split("\t") for line in lines)}


# The list of mutants, and the sample.


def keyed(mutants):
    """Mutants by a name that stays when lines move: file, what is replaced by what, and the place among its like."""
    found, seen = {}, collections.Counter()
    for mutant in mutants:
        place = re.sub(r"^[^ ]*:\d+:\d+: ", "", mutant["name"])
        name = f"{mutant['file']}: {place}"
        seen[name] += 1
        found[f"{name} #{seen[name]}"] = mutant
    return found


def listed():
    """All mutants of the crates, by their keys."""
    packages = [option for crate in CRATES for option in ("--package", f"airbraid-{crate}")]
    command = ["cargo", "mutants", "--list", "--json", *packages]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return keyed(json.loads(output))


def code_of(mutant):
    """The line that it changes, as it was: where that is another now, it is another mutant."""
    text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
    return text.split("\n")[mutant["span"]["start"]["line"] - 1].strip()


def crate_of(mutant):
    return mutant["package"].removeprefix("airbraid-")


def shares(mutants, sample):
    """How many of each crate: in proportion to its mutants, the greatest remainders rounded up."""
    counts = collections.Counter(crate_of(mutant) for mutant in mutants.values())
    exact = {crate: sample * count / len(mutants) for crate, count in counts.items()}
    whole = {crate: int(share) for crate, share in exact.items()}
    for crate in sorted(exact, key=lambda crate: whole[crate] - exact[crate])[: sample - sum(whole.values())]:
        whole[crate] += 1
    return counts, whole


def draw(state, name, sample):
    number = int(subprocess.run(["scripts/draw.py", name], cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    mutants = listed()
    counts, whole = shares(mutants, sample)
    rows = []
    for crate in CRATES:
        keys = sorted(key for key, mutant in mutants.items() if crate_of(mutant) == crate)
        random.Random(f"{number} {crate}").shuffle(keys)
        drawn = keys[: int(whole[crate] * SPARE) + 5]
        rows += [{"crate": crate, "key": key, "state": "drawn", "code": code_of(mutants[key])} for key in drawn]
        print(f"{crate}: {counts[crate]} mutants, {whole[crate]} of them in the sample")
    rows = [row | {"id": id} for id, row in enumerate(rows, 1)]
    state.folder.mkdir(parents=True, exist_ok=True)
    settle(state, mutants, rows)
    for crate in CRATES:
        viable = [row for row in rows if row["crate"] == crate and row["state"] != "unviable"]
        last = viable[min(whole[crate], len(viable)) - 1]["id"]
        for row in rows:
            if row["crate"] == crate and row["id"] > last:
                # Viable ones stay in the copy, for their functions' sake: what calls them compiles as it was found to.
                row["state"] = "spare" if row["state"] == "viable" else "dropped"
        if len(viable) < whole[crate]:
            print(f"{crate}: only {len(viable)} compile; draw with a greater SPARE")
    state.write_sample(rows)
    print(f"draw {number}:", dict(collections.Counter(row["state"] for row in rows)))


# One copy of the tree with all mutants.


def masked(text):
    """The text with blanks in place of what is no code, as long as before."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def offset(text, place):
    """Where a line and column (from 1) are in the text."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place["line"] - 1]) + place["column"] - 1


def body(text, code, function):
    """Beginning and end of a function's body, its braces included, and where its `const` is, if it has one."""
    begin, end = offset(text, function["span"]["start"]), offset(text, function["span"]["end"])
    name = function["function_name"].split("::")[-1].removesuffix(">")
    found = re.compile(rf"\b(const\s+)?(?:async\s+|unsafe\s+)*fn\s+{re.escape(name)}\b").search(code, begin, end)
    if not found:
        raise ValueError(f"no function {name}")
    depth, at = 0, found.end()
    while code[at] != "{" or depth:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[at], 0)
        at += 1
    depth, close = 0, at
    while True:
        depth += {"{": 1, "}": -1}.get(code[close], 0)
        close += 1
        if not depth:
            return at, close, found.span(1) if found[1] else None


def mutated(text, mutant, begin, end):
    """The function's body with the mutation."""
    start, stop = offset(text, mutant["span"]["start"]), offset(text, mutant["span"]["end"])
    if not begin <= start <= stop <= end:
        raise ValueError("outside the function's body")
    inner = text[begin:start] + mutant["replacement"] + text[stop:end]
    return inner if mutant["genre"] != "FnValue" or start > begin else "{ " + inner + " }"


def braided(text, drawn):
    """The text of a file with its mutants as branches, those that cannot be one, those in functions that were constant,
    and the extent of each branch."""
    code, functions, alone, constant = masked(text), collections.defaultdict(list), {}, set()
    for row, mutant in drawn:
        try:
            if "impl " in (mutant["function"] or {}).get("return_type", ""):
                raise ValueError("of an opaque type")
            begin, end, const = body(text, code, mutant["function"])
            functions[begin, end, const].append((row, mutated(text, mutant, begin, end)))
        except (ValueError, TypeError) as problem:
            alone[row["id"]] = str(problem)
    edits = []
    for (begin, end, const), branches in functions.items():
        ids = ", ".join(str(row["id"]) for row, _ in branches)
        pieces = [(None, f"{{ match airbraid_units::mutant::among(&[{ids}]) {{\n")]
        for row, branch in branches:
            pieces += [(None, f"{row['id']} => "), (row["id"], branch), (None, "\n")]
        pieces.append((None, f"_ => {text[begin:end]} }} }}"))
        edits.append((begin, end, pieces))
        if const:
            constant |= {row["id"] for row, _ in branches}
            edits.append((*const, []))
    result, extents, at = [], [], 0
    length = 0
    for begin, end, pieces in sorted(edits, key=lambda edit: edit[0]):
        if begin < at:
            alone |= {row["id"]: "within another function" for row, _ in functions.get((begin, end, None), [])}
            continue
        for id, piece in [(None, text[at:begin]), *pieces]:
            size = len(piece.encode())
            if id:
                extents.append((length, length + size, id))
            length += size
            result.append(piece)
        at = end
    return "".join([*result, text[at:]]), alone, constant, extents


def copy_tree(state):
    """Renews the copy; files that did not change keep their time, so that Cargo builds only what did."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    wanted = {name for name in names.stdout.splitlines() if (ROOT / name).is_file()}
    for path in [path for path in state.tree.rglob("*") if path.is_file()]:
        if str(path.relative_to(state.tree)) not in wanted | {"crates/units/src/mutant.rs"}:
            path.unlink()
    for name in wanted:
        if not (name.endswith(".rs") and name.startswith("crates/")):
            write(state.tree / name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, state.tree / name)
    return [name for name in wanted if name.endswith(".rs") and name.startswith("crates/")]


def write(path, content):
    """Writes a file if its content is another."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def weave(state, mutants, rows, skipped):
    """Writes the copy with the mutants as branches; returns extents by file, mutants that must be built alone, and constant ones."""
    by_file, extents, alone, constant = collections.defaultdict(list), {}, {}, set()
    for row in rows:
        if row["state"] in ("drawn", "viable", "spare") and row["id"] not in skipped and row["key"] in mutants:
            mutant = mutants[row["key"]]
            by_file[mutant["file"]].append((row, mutant))
    for name in copy_tree(state):
        text = (ROOT / name).read_text(encoding="utf-8")
        if name in by_file:
            text, single, steady, extents[name] = braided(text, by_file[name])
            alone |= single
            constant |= steady
        if name == "crates/units/src/lib.rs":
            text += "\npub mod mutant;\n"
        write(state.tree / name, text.encode())
    write(state.tree / "crates/units/src/mutant.rs", SWITCH.encode())
    return extents, alone, constant


def environment(state):
    linker = {"RUSTFLAGS": "-C link-arg=-fuse-ld=lld"} if shutil.which("ld.lld") else {}
    own = {"CARGO_TARGET_DIR": str(state.folder / "target"), "CARGO_INCREMENTAL": "1", "CARGO_PROFILE_DEV_DEBUG": "0"}
    return os.environ | own | linker


def cargo(state, *arguments):
    """Cargo's messages, and whether it succeeded."""
    command = ["nice", "-n", "15", "cargo", *arguments, "--locked", "--message-format=json"]
    done = subprocess.run(command, cwd=state.tree, env=environment(state), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode and not any(message["reason"] == "compiler-message" for message in messages):
        sys.exit(done.stderr)
    return messages, done.returncode == 0


def blamed(message, extents, rows):
    """The mutants that an error of the compiler is due to: (in whose branch it is, whose function cannot have branches)."""
    inside, names = set(), set()
    for span in message["spans"]:
        while span:
            for begin, end, id in extents.get(span["file_name"], []):
                if begin <= span["byte_start"] < end:
                    inside.add(id)
            span = (span.get("expansion") or {}).get("span")
    if inside and "non-const" not in message["message"]:
        return inside, set()
    names = {found.split("::")[-1] for found in re.findall(r"`([^`]+)`", message["message"])}
    names = {re.sub(r"<.*|\(.*", "", name) for name in names}
    return set(), {row["id"] for row in rows if any(re.search(rf"\b{re.escape(name)}\b( ->| #|$)", row["key"]) for name in names if name)}


def settle(state, mutants, rows):
    """Finds out which mutants compile, and which must be built alone."""
    unviable, alone = set(), {}
    while True:
        extents, single, constant = weave(state, mutants, rows, unviable | set(alone))
        alone |= single
        packages = [option for crate in CRATES for option in ("--package", f"airbraid-{crate}")]
        messages, succeeded = cargo(state, "check", *packages, "--keep-going")
        if succeeded:
            break
        errors = [m["message"] for m in messages if m["reason"] == "compiler-message" and m["message"]["level"] == "error"]
        before = len(unviable) + len(alone)
        for error in errors:
            wrong, apart = blamed(error, extents, [row for row in rows if row["id"] in constant])
            unviable |= wrong
            alone |= {id: "called where only constants are" for id in apart - unviable}
        print(f"{len(errors)} errors: {len(unviable)} mutants do not compile, {len(alone)} must be built alone", flush=True)
        if len(unviable) + len(alone) == before:
            sys.exit("\n".join(error.get("rendered") or error["message"] for error in errors))
    for row in rows:
        row["state"] = "unviable" if row["id"] in unviable else "alone" if row["id"] in alone else "viable"
        if row["id"] in alone:
            print(f"alone: {row['key']}: {alone[row['id']]}")


# Tests: what there is, which mutants each reaches, and how long it takes.


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(test, limit, **variables):
    """Runs a test in a process of its own: "passes", "fails" or "hangs", and its seconds."""
    begin = time.monotonic()
    output = subprocess.DEVNULL
    process = subprocess.Popen(
        ["nice", "-n", "15", *test["command"]], cwd=test["folder"], env=os.environ | variables,
        stdin=output, stdout=output, stderr=output, preexec_fn=limits,
    )
    try:
        code = process.wait(limit)
        outcome = "fails" if code else "passes"
    except subprocess.TimeoutExpired:
        outcome = "hangs"
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return outcome, time.monotonic() - begin


def replace(state, rows, unviable):
    """Takes spare mutants in place of those that turn out not to compile."""
    for row in rows:
        if row["id"] in unviable:
            if row["state"] == "viable":
                spare = next(other for other in rows if other["crate"] == row["crate"] and other["state"] == "spare")
                spare["state"] = "viable"
            row["state"] = "unviable"
            print(f"does not compile: {row['key']}")
    state.write_sample(rows)


def names_of_tests(binary, folder):
    command = [binary, "--list", "--format", "terse"]
    lines = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.removesuffix(": test") for line in lines if line.endswith(": test")}


def tests_of(state, package, mutants, rows):
    """The tests of a package."""
    while True:
        extents, _, _ = weave(state, mutants, rows, set())
        messages, succeeded = cargo(state, "test", "--no-run", "--package", f"airbraid-{package}", "--lib", "--bins", "--tests")
        if succeeded:
            break
        # Some errors come only where code is made: arithmetic that is known to overflow.
        errors = [m["message"] for m in messages if m["reason"] == "compiler-message" and m["message"]["level"] == "error"]
        unviable = set().union(*(blamed(error, extents, [])[0] for error in errors))
        if not unviable:
            sys.exit("\n".join(error["rendered"] for error in errors))
        replace(state, rows, unviable)
    for message in messages:
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder, binary = str(Path(message["manifest_path"]).parent), message["executable"]
            for name in sorted(names_of_tests(binary, folder)):
                yield {"suite": package, "name": f"{message['target']['name']} {name}", "folder": folder,
                       "command": [binary, "--exact", name, "--quiet", "--test-threads", "1"]}


def scenarios_of(state):
    """Each committed scenario against what it expects, and the quick rows of each paper, with the optimised build."""
    _, succeeded = cargo(state, "build", "--profile", "checked", "--package", "airbraid-cli", "--no-default-features")
    if not succeeded:
        sys.exit("the command does not build")
    airbraid = str(state.folder / "target/checked/airbraid")
    for path in sorted((state.tree / "scenarios").rglob("*.toml")):
        name = str(path.relative_to(state.tree))
        yield {"suite": "scenarios", "name": name, "folder": str(state.tree), "command": [airbraid, "check", name]}
    for path in sorted((state.tree / "papers").iterdir()):
        command = [airbraid, "reproduce", path.name, "--papers", "papers", "--rows", "tests/rows", "--no-store", "--quick"]
        yield {"suite": "rows", "name": path.name, "folder": str(state.tree), "command": command}


def record(state, test):
    """Runs a test without a mutant: how long it takes, and what it reaches."""
    reached = state.folder / "reached" / re.sub(r"\W+", "_", f"{test['suite']} {test['name']}")
    reached.parent.mkdir(exist_ok=True)
    reached.unlink(missing_ok=True)
    outcome, seconds = call(test, 1800, AIRBRAID_MUTANTS_REACHED=str(reached))
    ids = sorted({int(line) for line in reached.read_text().split()}) if reached.exists() else []
    return test | {"outcome": outcome, "seconds": round(seconds, 3), "reached": ids}


def build(state, jobs, suites):
    rows = state.read_sample()
    mutants = listed()
    for row in rows:
        if row["key"] not in mutants or code_of(mutants[row["key"]]) != row["code"]:
            print(f"no longer in the code: {row['key']}")
            row["state"] = "gone"
    state.write_sample(rows)
    for suite in suites:
        begin = time.monotonic()
        found = list(scenarios_of(state) if suite == "scenarios" else tests_of(state, suite, mutants, rows))
        print(f"{suite}: {len(found)} tests, built in {time.monotonic() - begin:.0f} s", flush=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            recorded = list(pool.map(lambda test: record(state, test), found))
        for test in recorded:
            if test["outcome"] != "passes":
                print(f"left out, it {test['outcome']} without a mutant: {test['suite']} {test['name']}")
        names = {test["suite"] for test in recorded}
        known = json.loads(state.tests.read_text()) if state.tests.exists() else []
        known = [test for test in known if test["suite"] not in names] + recorded
        state.tests.write_text(json.dumps(known), encoding="utf-8")
        print(f"{suite}: {sum(test['seconds'] for test in recorded):.0f} s", flush=True)


# The run.


def forget_seeds(state):
    """Takes back the seeds that property tests have written down: no mutant is to be caught by another's."""
    for path in [*state.tree.glob("**/proptest-regressions/**/*.txt"), *state.tree.glob("**/*.proptest-regressions")]:
        original = ROOT / path.relative_to(state.tree)
        if original.exists():
            write(path, original.read_bytes())
        else:
            path.unlink(missing_ok=True)


def order(row, tests):
    """The tests that reach a mutant: its own crate's first, then suite by suite, the fastest first."""
    suites = [row["crate"], *(package for package in PACKAGES if package != row["crate"]), "scenarios", "rows"]
    reaching = [test for test in tests if row["id"] in test["reached"]]
    return sorted(reaching, key=lambda test: (suites.index(test["suite"]), test["seconds"]))


def judge(state, row, tests):
    """(outcome, suite, test, number of tests run) of a mutant."""
    number = 0
    for test in order(row, tests):
        number += 1
        limit = max(LEAST_LIMIT_S, LIMIT_FACTOR * test["seconds"])
        outcome, _ = call(test, limit, AIRBRAID_MUTANT=str(row["id"]))
        if outcome != "passes":
            forget_seeds(state)
            return "caught" if outcome == "fails" else "timeout", test["suite"], test["name"], number
    return "missed", "-", "-", number


def run(state, jobs, suites, again):
    tests = [test for test in json.loads(state.tests.read_text()) if test["outcome"] == "passes"]
    tests = [test | {"reached": set(test["reached"])} for test in tests]
    known = state.read_outcomes()
    built = {test["suite"] for test in tests}
    rows = [row for row in state.read_sample() if row["state"] == "viable" and row["crate"] in built]
    if again:
        rows = [row for row in rows if known.get(row["id"], ("missed",))[0] == "missed"]
    else:
        rows = [row for row in rows if row["id"] not in known]
    # Every part of a sample that was stopped is at random, too.
    random.Random(0).shuffle(rows)
    begin = time.monotonic()

    def one(row):
        chosen = [test for test in tests if test["suite"] in suites | ({row["crate"]} if "own" in suites else set())]
        verdict = judge(state, row, chosen)
        with state.outcomes.open("a", encoding="utf-8") as file:
            file.write("\t".join(map(str, (row["id"], *verdict, row["key"]))) + "\n")
        print(f"{time.monotonic() - begin:6.0f} s", *verdict[:3], row["key"], flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, rows))


def score(state):
    known = state.read_outcomes()
    rows = [row for row in state.read_sample() if row["state"] in ("viable", "alone")]
    tried = [row for row in rows if row["id"] in known]
    for title, of in (("crate", lambda row: row["crate"]), ("file", lambda row: row["key"].split(": ")[0])):
        groups = collections.defaultdict(collections.Counter)
        for row in tried:
            outcome, suite, _ = known[row["id"]]
            own = suite == row["crate"]
            groups[of(row)][outcome if own or outcome == "missed" else "elsewhere"] += 1
        print(f"| {title} | tried | caught | by own tests | of these by time-out | by other suites | missed | score |")
        print("|---|---|---|---|---|---|---|---|")
        total = sum(groups.values(), collections.Counter())
        for name, count in [*sorted(groups.items()), *([("all", total)] if title == "crate" else [])]:
            caught = sum(count.values()) - count["missed"]
            own = count["caught"] + count["timeout"]
            print(f"| {name} | {sum(count.values())} | {caught} | {own} | {count['timeout']} | {count['elsewhere']} "
                  f"| {count['missed']} | {100 * caught / sum(count.values()):.1f} % |")
        print()
    print(f"{len(rows) - len(tried)} of {len(rows)} not tried yet")
    print("\n".join(f"missed {row['id']}: {row['key']}" for row in tried if known[row["id"]][0] == "missed"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["draw", "build", "run", "score"])
    parser.add_argument("name", nargs="?", help="of the draw, for scripts/draw.py")
    parser.add_argument("--state", type=Path, default=ROOT / "out/mutants")
    parser.add_argument("--sample", type=int, default=600, help="mutants that compile (600)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--suites", default=",".join([*PACKAGES, "scenarios"]), help="tests to build, or to run")
    parser.add_argument("--again", action="store_true", help="run: try the survivors again")
    arguments = parser.parse_args()
    state = State(arguments.state.resolve())
    suites = arguments.suites.split(",")
    if arguments.step == "draw":
        if not arguments.name:
            parser.error("a draw has a name")
        draw(state, arguments.name, arguments.sample)
    elif arguments.step == "build":
        build(state, arguments.jobs, suites)
    elif arguments.step == "run":
        run(state, arguments.jobs, set(suites) | ({"rows"} if "scenarios" in suites else set()), arguments.again)
    else:
        score(state)


if __name__ == "__main__":
    main()
