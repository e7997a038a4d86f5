"""A figure that knows what it was made from, and how plots here look."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from .. import _core
from ..errors import ArgumentError

# Okabe and Ito's colours, told apart by all eyes, without the yellow that white paper swallows.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# One column of a paper, and half as high [inch].
_SIZE = (6.4, 3.8)

# Units that a reader would not write out, by the ending of a name: factor and unit.
_SHOWN = {
    "_bps": (1e-6, "Mbit/s"), "_bytes": (1e-6, "MB"), "_s": (1.0, "s"), "_ns": (1e-6, "ms"), "_db": (1.0, "dB"),
    "_dbm": (1.0, "dBm"), "_m": (1.0, "m"),
}  # fmt: skip


def shown(name: str) -> tuple[float, str]:
    """By what a column is multiplied to be shown, and its label: `flow.download.goodput_bps` as `download goodput [Mbit/s]`."""
    for ending, (factor, unit) in _SHOWN.items():
        if name.endswith(ending):
            return factor, f"{_words(name.removesuffix(ending))} [{unit}]"
    return 1.0, _words(name)


def _words(name: str) -> str:
    return name.removeprefix("flow.").replace(".", " ").replace("_", " ")


class Figure:
    """A drawn figure: `save` it, show it in a notebook by naming it, or change it by matplotlib: `canvas`, `axes`."""

    def __init__(self, canvas: Canvas, axes: Axes, origin: dict[str, Any]) -> None:
        self.canvas = canvas
        """matplotlib's figure."""
        self.axes = axes
        self.origin = {"airbraid": _core.VERSION, "commit": _core.COMMIT, "build": _core.BUILD} | origin
        """What it was made from: commit and build of airbraid, `scenario_hashes`, `seeds`, `metric`, `level`."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes PDF, PNG or SVG by the name's ending, with `origin` as JSON in the metadata (Subject of a PDF, Description
        of the others). The same figure gives the same bytes. Raises ArgumentError for another ending."""
        path = Path(path)
        said = json.dumps(self.origin)
        # Without a date: two runs of one script give one file.
        metadata: dict[str, dict[str, Any]] = {
            ".pdf": {"Title": self._title, "Subject": said, "Creator": "airbraid", "CreationDate": None},
            ".png": {"Title": self._title, "Description": said, "Software": "airbraid"},
            ".svg": {"Title": self._title, "Description": said, "Creator": "airbraid", "Date": None},
        }
        ending = path.suffix.lower()
        if ending not in metadata:
            raise ArgumentError(f"{path}: a figure is saved as .pdf, .png or .svg")
        import matplotlib as mpl

        with mpl.rc_context({"svg.hashsalt": "airbraid", "pdf.fonttype": 42}):
            self.canvas.savefig(path, metadata=metadata[ending], dpi=150)
        return path

    @property
    def _title(self) -> str:
        return self.axes.get_title() or self.axes.get_ylabel() or "airbraid"

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.canvas.savefig(content, format="png", dpi=110)
        return content.getvalue()


def canvas(title: str | None, width: float = _SIZE[0], height: float = _SIZE[1]) -> tuple[Canvas, Axes]:
    """An empty figure. It belongs to no window and no global state."""
    drawn = Canvas(figsize=(width, height), layout="constrained")
    axes = drawn.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if title:
        axes.set_title(title, loc="left", fontsize="medium")
    return drawn, axes


def origin(table: pl.DataFrame) -> dict[str, Any]:
    """What the rows of a frame came from, as far as its columns say it."""
    found: dict[str, Any] = {}
    for name, single in (("scenario_hashes", "scenario_hash"), ("seeds", "seed")):
        if name in table.columns:
            found[name] = sorted(set(table[name].explode().drop_nulls().to_list()))
        elif single in table.columns:
            found[name] = sorted(set(table[single].drop_nulls().to_list()))
    for name in ("metric", "level"):
        if name in table.columns and table[name].n_unique() == 1:
            found[name] = table[name][0]
    return found


def provenance(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a saved figure was made from: the `origin` that its file carries. Raises ArgumentError for a file without."""
    content = Path(path).read_bytes()
    start = content.find(b'{"airbraid"') if not content.startswith(b"<?xml") else -1
    if start >= 0:
        text = content[start:].decode("utf-8", "replace").replace("\\(", "(").replace("\\)", ")")
    else:
        import html

        whole = html.unescape(content.decode("utf-8", "replace"))
        start = whole.find('{"airbraid"')
        text = whole[start:] if start >= 0 else ""
    try:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    except json.JSONDecodeError:
        raise ArgumentError(f"{os.fspath(path)}: this file does not say what it was made from") from None
    return found
