"""Runs notebooks, and keeps or compares what their cells gave. usage: notebooks.py FOLDER

The outputs stand in the files, so that a forge shows them. Left out is what differs from run to run without a cause:
progress bars, times of execution. Texts and tables are compared letter by letter, but for versions, commits and hashes;
pictures by their size and, point by point, their colours, as fonts of other machines differ by a point here and there.
"""

import base64
import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import nbformat
import numpy as np
from nbclient import NotebookClient

# A colour differs if it does by more than this, of 1; so many points of a picture may.
COLOUR, POINTS = 0.1, 0.02


def execute(path: Path) -> Any:
    """A notebook with what its cells gave; raises what a cell raises."""
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=120, record_timing=False, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [kept(out) for out in cell.outputs if out.get("name") != "stderr"]
    book.metadata["language_info"] = {"name": "python"}
    return book


def kept(out: Any) -> Any:
    """An output in its one form: of a picture the picture, without the words for those who cannot show it."""
    data = out.get("data", {})
    if "image/png" in data:
        out["data"] = {"image/png": data["image/png"].strip()}
        out["metadata"] = {}
    return out


def said(out: Any) -> str:
    """The text of an output, without what each build has of its own."""
    text = out.get("text") or out.get("data", {}).get("text/html") or out.get("data", {}).get("text/plain") or ""
    text = text if isinstance(text, str) else "".join(text)
    return re.sub(r"\b[0-9a-f]{7,64}\b|\d+\.\d+\.\d+\S*", "...", text)


def picture(out: Any) -> Any:
    """The points of a picture."""
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(out["data"]["image/png"])), format="png")


def differences(stored: Any, fresh: Any) -> list[str]:
    """Where the outputs of two runs of a notebook differ, a line each."""
    found = []
    for cell, (old, new) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        before, after = old.get("outputs", []), new.get("outputs", [])
        if len(before) != len(after):
            found.append(f"cell {cell}: {len(before)} outputs are stored, {len(after)} were made")
            continue
        for one, two in zip(before, after, strict=True):
            if ("image/png" in one.get("data", {})) != ("image/png" in two.get("data", {})):
                found.append(f"cell {cell}: a picture and no picture")
            elif "image/png" in one.get("data", {}):
                a, b = picture(one), picture(two)
                if a.shape != b.shape or np.mean(np.abs(a - b).max(axis=-1) > COLOUR) > POINTS:
                    found.append(f"cell {cell}: another picture")
            elif said(one) != said(two):
                found.append(f"cell {cell}: {said(one)!r} is stored, {said(two)!r} was made")
    return found


if __name__ == "__main__":
    for notebook in sorted(Path(sys.argv[1]).glob("*.ipynb")):
        nbformat.write(execute(notebook), notebook)
        print(notebook)
