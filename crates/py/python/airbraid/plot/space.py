"""Where the nodes of a scenario are and what joins them."""

from __future__ import annotations

import math

from matplotlib.lines import Line2D

from ..errors import ArgumentError
from ..scenario import Scenario
from .figure import COLOURS, Figure, canvas


def topology(scenario: Scenario, cell: int = 0, *, title: str | None = None) -> Figure:
    """Nodes where they are at the start [m], with their channels; trunks, links and flows between them. Nodes that the seed
    puts somewhere, and those of a scenario where all stand at one place, are put on a circle.

    Raises IndexError for a cell that does not exist, ArgumentError for a scenario without nodes.
    """
    places = scenario.map(cell)
    nodes = places["nodes"]
    if not nodes:
        raise ArgumentError("topology: the scenario has no node")
    known = {(node["x_m"], node["y_m"]) for node in nodes}
    drawn_by_lot = any(node["x_m"] is None for node in nodes)
    is_map = not drawn_by_lot and len(known) > 1
    at = {}
    for number, node in enumerate(nodes):
        angle = 2 * math.pi * number / len(nodes)
        at[node["name"]] = (node["x_m"], node["y_m"]) if is_map else (math.cos(angle), math.sin(angle))
    drawn, axes = canvas(title or scenario.title, height=4.2)
    legend = []
    styles = {"trunks": (COLOURS[0], "-", 3.0), "tunnels": (COLOURS[2], "-", 3.0), "links": ("#888888", "-", 1.0)}
    for what, (colour, style, width) in styles.items():
        for between in places[what]:
            ends = [at[between["from"]], at[between["to"]]]
            axes.plot(*zip(*ends, strict=True), color=colour, linestyle=style, linewidth=width, zorder=1)
        if places[what]:
            legend.append(Line2D([], [], color=colour, linewidth=width, label=what.removesuffix("s")))
    for flow in places["flows"]:
        arrow = {"arrowstyle": "->", "color": COLOURS[1], "connectionstyle": "arc3,rad=0.15", "shrinkA": 7, "shrinkB": 7}
        axes.annotate("", at[flow["to"]], at[flow["from"]], arrowprops=arrow, zorder=2)
    if places["flows"]:
        legend.append(Line2D([], [], color=COLOURS[1], linewidth=1, label="flow"))
    few = len(nodes) <= 40
    for node in nodes:
        x, y = at[node["name"]]
        axes.plot(x, y, "o", color="black", markersize=6 if few else 3, zorder=3)
        if few:
            channels = f"\nch {', '.join(map(str, node['channels']))}" if node["channels"] else ""
            moves = " (moves)" if node["moves"] else ""
            text = f"{node['name']}{moves}{channels}"
            axes.annotate(text, (x, y), (0, 8), textcoords="offset points", fontsize="x-small", ha="center", va="bottom")
    if is_map:
        axes.set_xlabel("east [m]")
        axes.set_ylabel("north [m]")
        axes.set_aspect("equal", adjustable="datalim")
    else:
        axes.set_axis_off()
        axes.set_aspect("equal")
    axes.margins(0.18, 0.3)
    if legend:
        below = (1, -0.12 if is_map else -0.02)
        axes.legend(handles=legend, frameon=False, fontsize="small", ncols=3, loc="upper right", bbox_to_anchor=below)
    return Figure(drawn, axes, {"scenario_hashes": [scenario.cells[cell].hash[:6].hex()]})
