"""All figures of a run's analyses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from cupel.json_types import Json
from cupel.plots.agreement import draw_agreement
from cupel.plots.components import draw_components
from cupel.plots.differences import draw_differences
from cupel.plots.distribution import draw_distribution
from cupel.plots.style import cupel_style, save

_NOT_DRAWN = {
    "distribution": "no probe has completed",
    "agreement": "no two targets have answered the same scenarios",
    "differences": "no two targets have answered the same scenarios",
}
"""Why a figure is left out; components say it themselves."""


class DrawnPlots(NamedTuple):
    files: list[Path]
    omitted: dict[str, str]
    """Reasons by figure."""


def draw_plots(basic: Json, deep: Json, names: Sequence[str], folder: Path) -> DrawnPlots:
    """Store each figure as SVG and PNG in a folder, which is created. `names` are those of the columns.

    `basic` and `deep` are figures of analyses of the same run. Files of earlier figures are replaced.
    """
    drawings: dict[str, Callable[[], Figure | None]] = {
        "distribution": lambda: draw_distribution(basic, names),
        "agreement": lambda: draw_agreement(basic, names),
        "components": lambda: draw_components(deep, names),
        "differences": lambda: draw_differences(basic, names),
    }
    drawn = DrawnPlots([], {})
    folder.mkdir(parents=True, exist_ok=True)
    with cupel_style():
        for name, draw in drawings.items():
            figure = draw()
            if figure is None:
                drawn.omitted[name] = _NOT_DRAWN.get(name) or _why_without_components(deep)
            else:
                drawn.files.extend(save(figure, folder, name))
    return drawn


def _why_without_components(deep: Json) -> str:
    reasons = {part["part"]: part["reason"] for part in deep["unavailable"]}
    return str(reasons["components"])
