"""What the documents show runs: the twelve lines of the README, the code of docs/guide/python.md, the notebooks."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import airbraid as ab
import nbformat
import pytest
from conftest import ROOT


def blocks(path: Path) -> list[str]:
    """The Python of a document."""
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def run(code: str, directory: Path) -> str:
    """What code prints, run as a script beside the scenarios."""
    (directory / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run([sys.executable, "-c", code], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_twelve_lines_of_the_readme(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line]) <= 12
    printed = run(code, tmp_path)
    assert "sender/ch" in printed
    found = ab.plot.provenance(tmp_path / "striping.pdf")
    assert found["seeds"] == list(range(1, 11))
    assert (tmp_path / "runs" / "runs.sqlite").is_file()


def test_the_code_of_the_manual(tmp_path: Path) -> None:
    code = "\n".join(blocks(ROOT / "docs/guide/python.md"))
    assert "Mbit/s" in run(code, tmp_path)


def test_the_python_that_somebody_wants(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "docs/guide/i-want.md")
    run(code, tmp_path)
    assert ab.plot.provenance(tmp_path / "slow.pdf")["seeds"] == [1, 2, 3, 4, 5]


NOTEBOOKS = sorted((ROOT / "docs/guide/notebooks").glob("*.ipynb"))


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        book = nbformat.read(path, as_version=4)
        assert any(cell.get("outputs") for cell in book.cells), "make notebooks stores what the cells give"
        assert path.stat().st_size < 400_000, f"{path.name} is too large for a repository"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    # The kernel's own libraries are not ours to mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from notebooks import differences, execute

        book = execute(path)
        assert not differences(nbformat.read(path, as_version=4), book), "make notebooks stores the new outputs"
    pictures = [out for cell in book.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(pictures) >= 2
