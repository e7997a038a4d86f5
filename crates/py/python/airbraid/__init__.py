"""airbraid: many unreliable radio channels as one good link; scenarios, campaigns, statistics and plots.

    import airbraid as nm

    base = nm.Scenario.load("trunk.toml")
    runs = nm.Campaign(base, {"trunk.air.policy.distributor": ["round_robin", "srr"]}, seeds=range(1, 31)).run()
    print(nm.stats.mean_ci(runs.frame(), "flow.download.goodput_bps", by="trunk.air.policy.distributor"))

docs/python.md tells it from the beginning. Frames are of polars, or of pandas where asked for; each column has its unit in its
name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import BUILD, COMMIT
from ._core import VERSION as __version__
from .campaign import Campaign
from .errors import (
    AirbraidError,
    ArgumentError,
    CampaignStopped,
    Complaint,
    RunError,
    ScenarioError,
    StoreError,
    WorkerDied,
)
from .papers import Reproduction, papers, reproduce
from .run import Run
from .runs import Runs
from .scenario import Cell, Scenario, run
from .slots import SlotPlan, efficiency, periods, plan
from .workers import Workers

if TYPE_CHECKING:
    from . import plot, stats

__all__ = [
    "BUILD", "COMMIT", "AirbraidError", "ArgumentError", "Campaign", "CampaignStopped", "Cell", "Complaint", "Reproduction",
    "Run", "RunError", "Runs", "Scenario", "ScenarioError", "SlotPlan", "StoreError", "WorkerDied", "Workers", "__version__",
    "efficiency", "papers", "periods", "plan", "plot", "reproduce", "run", "stats",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # matplotlib is slow to load, and a worker has no use for it.
    if name in ("plot", "stats"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
