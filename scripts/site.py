#!/usr/bin/env python3
"""The site: the pages of docs/ as a book with search, the gallery, the reproductions with their reports, the API of the
Python package. Links and anchors are checked.

usage: scripts/site.py OUT [--airbraid COMMAND] [--mdbook COMMAND]
       scripts/site.py --check OUT/site
COMMAND makes the reports of the papers (`reproduce --quick`); without it they are left out.
The site is OUT/site: any server of files serves it, and a browser opens OUT/site/index.html from the disk.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
# Pages of the root, by what they are called on the site.
PROJECT = {name: f"project/{name.lower()}" for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "SECURITY.md", "CHANGELOG.md")}
PROJECT["README.md"] = "index.md"
# The order of the guide; the pages that are not named follow.
GUIDE = ["install", "i-want", "examples", "report", "why", "timeline", "wireshark", "lab", "daemon", "plan", "python"]
PARTS = [("Guide", "guide"), ("Reference", "reference"), ("Models", "models"), ("Reproductions", "measurements/reproductions"),
         ("Measurements", "measurements"), ("Decisions", "decisions"), ("Project", "project")]
PAPERS = sorted(path.parent.name for path in (ROOT / "papers").glob("*/figures.toml"))
# A text in brackets, which may break lines and hold a picture, and its target.
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def on_site(path):
    """The place of a file of the repository on the site, and whether it is a page."""
    name = path.as_posix()
    if name in PROJECT:
        return Path(PROJECT[name]), True
    if name == "docs/README.md":
        return Path("documentation.md"), True
    if name.startswith("docs/") and name.endswith(".md"):
        place = path.relative_to("docs")
        return place.with_name("index.md") if place.name == "README.md" else place, True
    if name.startswith("docs/pictures"):
        return path.relative_to("docs"), False
    return Path("files") / path, False


class Book:
    """The book's sources, and what they name beside them."""

    def __init__(self, out):
        self.source = out / "src"
        self.files = set()
        self.folders = set()

    def write(self, place, text):
        target = self.source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def page(self, path):
        """A page of the repository, its links made those of the site."""
        place, _ = on_site(path)
        # Code between fences is not looked at.
        parts = re.split(r"(^ *```.*?^ *```$)", (ROOT / path).read_text(), flags=re.MULTILINE | re.DOTALL)
        parts[::2] = [LINK.sub(lambda found: self.link(path, place, found), part) for part in parts[::2]]
        self.write(place, "".join(parts).replace("```console", "```text"))

    def link(self, page, place, found):
        begin, target, end = found.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return found.group()
        name, _, anchor = target.partition("#")
        path = (ROOT / page.parent / name).resolve().relative_to(ROOT)
        if (ROOT / path).is_dir():
            self.folders.add(path)
            other = Path("files") / path / "index.md"
        else:
            other, is_page = on_site(path)
            if not is_page:
                self.files.add(path)
        up = "../" * len(place.parent.parts)
        return f"{begin}{up}{other.as_posix()}{'#' + anchor if anchor else ''}{end}"

    def beside(self):
        """Files that pages name, and a page for each folder that they name."""
        for folder in sorted(self.folders):
            inside = sorted(path for path in (ROOT / folder).iterdir() if not path.name.startswith("."))
            self.files.update(path.relative_to(ROOT) for path in inside if path.is_file() and path.suffix != ".md")
            lines = [f"# {folder}/", ""]
            for path in inside:
                if path.is_file():
                    other, _ = on_site(path.relative_to(ROOT))
                    here = Path("files") / folder
                    lines.append(f"- [{path.name}]({'../' * len(here.parts)}{other.as_posix()})")
            self.write(Path("files") / folder / "index.md", "\n".join(lines) + "\n")
        for path in sorted(self.files):
            target = self.source / on_site(path)[0]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)


def title(page):
    found = re.search(r"^# (.*)", page.read_text(), re.MULTILINE)
    return found.group(1).replace("`", "") if found else page.stem


def summary(book):
    """The table of contents: every page once."""
    named = {"index.md": "airbraid", "documentation.md": "Who reads what"}
    rest = sorted(path.name for path in book.source.glob("*.md") if path.name not in named and path.name != "SUMMARY.md")
    first = named | {name: title(book.source / name) for name in rest}
    lines = ["# Summary", "", *(f"[{text}]({name})" for name, text in first.items())]
    done = set(first)

    def add(path):
        name = path.relative_to(book.source).as_posix()
        if name not in done:
            done.add(name)
            lines.append(f"- [{title(path)}]({name})")

    for heading, folder in PARTS:
        lines += ["", f"# {heading}", ""]
        if heading == "Reproductions":
            add(book.source / "measurements/reproductions.md")
        pages = sorted((book.source / folder).glob("*.md"))
        if folder == "guide":
            pages.sort(key=lambda path: (GUIDE.index(path.stem) if path.stem in GUIDE else len(GUIDE), path.stem))
        if folder in ("decisions", "project"):
            pages.sort(key=lambda path: (path.stem != "index", path.stem))
        for path in pages:
            add(path)
        if folder == "measurements":
            for path in sorted((book.source / folder).glob("*/*.md")):
                add(path)
    lines += ["", "# Files", ""]
    for path in sorted(book.source.glob("files/**/*.md")):
        add(path)
    book.write("SUMMARY.md", "\n".join(lines) + "\n")


def signature(node, name):
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^(self|cls)(, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}({arguments}){returns}"


def members(body, owner):
    """The documented functions and classes of a module or class."""
    for node in body:
        name = getattr(node, "name", "_")
        doc = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
        if doc is None or (name.startswith("_") and name != "__init__"):
            continue
        yield node, f"{owner}.{name}" if owner else name, doc


def api(book):
    """A page of the Python package, from its sources: what `airbraid.__all__` names, with signatures and docstrings."""
    package = ROOT / "crates/py/python/airbraid"
    exported = ast.parse((package / "__init__.py").read_text())
    names = next(ast.literal_eval(node.value) for node in exported.body
                 if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    lines = ["# Python API", "", "What `import airbraid` gives; the [guide](../guide/python.md) shows its use. Modules and stubs are typed.", ""]
    sources = sorted(package.rglob("*.py")) + [package / "_core.pyi"]
    found = {}
    for file in sources:
        for node, name, doc in members(ast.parse(file.read_text()).body, ""):
            found.setdefault(name, (file, node, doc))
        if file.parent == package and file.stem in names or file.parent.name in names and file.name == "__init__.py":
            module = ast.parse(file.read_text())
            found[file.stem if file.parent == package else file.parent.name] = (file, module, ast.get_docstring(module) or "")
    for name in sorted(names, key=str.lower):
        if name not in found:
            continue
        file, node, doc = found[name]
        shown = signature(node, name) if isinstance(node, ast.FunctionDef) else name
        lines += [f"## `{name}`", "", "```python", shown, "```", "", doc, ""]
        for inner, inner_name, inner_doc in members(getattr(node, "body", []), name) if not isinstance(node, ast.FunctionDef) else ():
            shown = signature(inner, inner_name) if isinstance(inner, ast.FunctionDef) else inner_name
            lines += [f"### `{inner_name}`", "", "```python", shown, "```", "", inner_doc, ""]
    # Constants have no docstrings.
    missing = sorted(name for name in set(names) - set(found) if not name.isupper() and not name.startswith("__"))
    if missing:
        sys.exit(f"site.py: airbraid.{missing[0]} has no docstring that is found")
    book.write("reference/python-api.md", "\n".join(lines) + "\n")


def reports(book, airbraid, store):
    """The reports of the papers, as `reproduce --quick` writes them, and links to them."""
    lines = ["# Reports of the papers", "",
             "Each row beside the paper's, with its verdict and its picture, as `airbraid reproduce PAPER --quick` writes it: short",
             "runs, two replications. The tables of all runs are on the [page of each paper](../reproductions.md).", ""]
    for paper in PAPERS:
        target = book.source / "measurements/reproductions" / f"{paper}-report"
        command = [airbraid, "reproduce", paper, "--quick", "--store", str(store), "--out", str(target)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        lines.append(f"- [{paper}]({paper}-report/report.html)")
    book.write("measurements/reproductions/reports.md", "\n".join(lines) + "\n")


class Page(HTMLParser):
    """The names within a page, and the links that leave it."""

    def __init__(self):
        super().__init__()
        self.names, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.names.add(value)
            if key in ("href", "src") and value and tag != "base":
                self.links.append(value)


def check(site):
    """Every link leads to a file of the site, every anchor to a name in it. Links to elsewhere are not asked for."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text())
        pages[path.resolve()] = page
    dead, count = [], 0
    for path, page in pages.items():
        # It is served for addresses that are not there, from the root.
        if path.name in ("404.html", "toc.html", "print.html"):
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            count += 1
            name, _, anchor = link.partition("#")
            other = (path.parent / unquote(name)).resolve() if name else path
            if other.is_dir():
                other = other / "index.html"
            is_there = other.exists() and (not anchor or other not in pages or unquote(anchor) in pages[other].names)
            if not is_there:
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
    for line in sorted(set(dead)):
        print(line, file=sys.stderr)
    if dead:
        sys.exit(f"site.py: {len(set(dead))} dead links")
    if not count:
        sys.exit("site.py: no link was found: is this a site?")
    print(f"{len(pages)} pages, {count} links lead somewhere")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--airbraid")
    parser.add_argument("--mdbook", default="mdbook")
    parser.add_argument("--check", type=Path, metavar="SITE")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    if not options.out:
        parser.error("name the folder to write")
    out = options.out.resolve()
    shutil.rmtree(out / "src", ignore_errors=True)
    shutil.rmtree(out / "site", ignore_errors=True)
    book = Book(out)
    for name in PROJECT:
        book.page(Path(name))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        book.page(path.relative_to(ROOT))
    book.files.update(path.relative_to(ROOT) for path in (ROOT / "docs/pictures").rglob("*") if path.is_file())
    book.beside()
    api(book)
    if options.airbraid:
        reports(book, options.airbraid, out / "runs")
    summary(book)
    for name in ("book.toml", "site.css"):
        shutil.copyfile(ROOT / "packaging/site" / name, out / name)
    subprocess.run([options.mdbook, "build", str(out)], check=True)
    check(out / "site")


if __name__ == "__main__":
    main()
