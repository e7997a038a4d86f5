"""Runs notebooks and leaves them, with their pictures, in a directory. usage: notebooks.py FROM TO"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> Any:
    """A notebook with what its cells gave; raises what a cell raises."""
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=120, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    return book


if __name__ == "__main__":
    source, target = (Path(argument) for argument in sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(source.glob("*.ipynb")):
        nbformat.write(execute(notebook), target / notebook.name)
        print(target / notebook.name)
