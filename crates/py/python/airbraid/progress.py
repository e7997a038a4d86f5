"""The progress of a campaign: a bar in the terminal or the notebook, after the first second, or a function of the user."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

# A bar for less than this [s] is gone before it is read.
_DELAY_S = 1.0


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


class Progress:
    """Told how many runs are done."""

    def __init__(self, total: int, wanted: bool | Callable[[int, int], None] | None, what: str = "runs") -> None:
        if wanted is not None and not isinstance(wanted, bool) and not callable(wanted):
            raise TypeError(f"progress: true, false or a function is needed, this is {wanted!r}")
        self.total, self.done = total, 0
        self._tell = wanted if callable(wanted) else None
        self._bar: Any = None
        if wanted is True or (wanted is None and (sys.stderr.isatty() or _in_notebook())):
            with warnings.catch_warnings():
                # Without ipywidgets the bar in a notebook is text, which is fine.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
            self._bar = tqdm(total=total, unit=what.removesuffix("s"), delay=_DELAY_S, leave=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    def to(self, done: int, total: int | None = None) -> None:
        """So many are done; `total`: of so many."""
        if total is not None and total != self.total:
            self.total = total
            if self._bar is not None:
                self._bar.total = total
        step, self.done = done - self.done, done
        if self._bar is not None and step:
            self._bar.update(step)
        if self._tell is not None:
            self._tell(done, self.total)
