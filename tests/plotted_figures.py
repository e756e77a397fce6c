"""The figures in the documentation: `python -m tests.plotted_figures` draws them anew.

`plotted_sample.json` has what is drawn of the analyses of the sample definition, as `make run` runs it.
"""

import json
from pathlib import Path

from cupel.plots.draw import draw_plots

IMAGES = Path(__file__).parents[1] / "docs/images"
SAMPLE = json.loads((Path(__file__).parent / "plotted_sample.json").read_text())


def draw(folder: Path) -> list[Path]:
    """The SVG files."""
    names = [column["targetId"] for column in SAMPLE["basic"]["columns"]]
    return [path for path in draw_plots(SAMPLE["basic"], SAMPLE["deep"], names, folder).files if path.suffix == ".svg"]


if __name__ == "__main__":
    draw(IMAGES)
    for png in ("distribution", "agreement", "components", "differences"):
        (IMAGES / f"{png}.png").unlink()
