"""airbraid: many unreliable radio channels as one good link; scenarios, campaigns, statistics and plots.

    import airbraid as ab

    base = ab.Scenario.load("trunk.toml")
    runs = ab.Campaign(base, {"trunk.air.policy.distributor": ["round_robin", "srr"]}, seeds=range(1, 31)).run()
    print(ab.stats.mean_ci(runs.frame(), "flow.download.goodput_bps", by="trunk.air.policy.distributor"))

docs/guide/python.md is the guide. Data frames are polars' (or pandas' on request); the name of each column ends in its unit.
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
from .scenario import Cell, Scenario, report, run
from .slots import SlotPlan, efficiency, periods, plan
from .workers import Workers

if TYPE_CHECKING:
    from . import plot, stats

__all__ = [
    "BUILD", "COMMIT", "AirbraidError", "ArgumentError", "Campaign", "CampaignStopped", "Cell", "Complaint", "Reproduction",
    "Run", "RunError", "Runs", "Scenario", "ScenarioError", "SlotPlan", "StoreError", "WorkerDied", "Workers", "__version__",
    "efficiency", "papers", "periods", "plan", "plot", "report", "reproduce", "run", "stats",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # matplotlib is slow to load, and a worker has no use for it.
    if name in ("plot", "stats"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
