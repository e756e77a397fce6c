"""Defines the colors, sizes, labels and storage of all figures. Color-blind readers can distinguish the colors."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cupel.terminal import one_line
from cupel.whole_files import whole_file

BLUE, ORANGE, GRAY, DARK, LIGHT = "#0072B2", "#D55E00", "#8C8C8C", "#333333", "#E3E3E3"
"""Colors of Okabe and Ito's palette, and grays."""
CODES = {"1": "#0571B0", "2": "#92C5DE", "3": "#DDDDDD", "4": "#F4A582", "5": "#CA0020", "other": "#FFFFFF"}
"""A diverging scale of ColorBrewer; the middle of the scale of decisions is neutral."""
MAX_ROWS = 50
"""Rows of more targets cannot be read."""
_MAX_LABEL = 36
_CHARACTER_INCHES = 0.08
_EQUAL_CONTRAST = 0.21
"""On a background of this luminance, white text and dark text can be read equally well."""
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PNG_DOTS_PER_INCH = 144
_SETTINGS: Any = {
    "axes.edgecolor": GRAY,
    "axes.labelcolor": DARK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": ["sans-serif"],
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    # Equal figures are equal files.
    "svg.hashsalt": "cupel",
    # Texts stay texts: they can be searched, and fonts of the reader have more characters than ours.
    "svg.fonttype": "none",
    # A label such as "$x$" is no formula.
    "text.parse_math": False,
    "xtick.color": DARK,
    "xtick.labelsize": 8.5,
    "ytick.color": DARK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def cupel_style() -> Iterator[None]:
    """Make and store figures alike, whatever the reader's matplotlibrc says.

    A character that the font lacks is a box in PNG files.
    """
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def new_figure(title: str, width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure; width and height are in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, x=0.012, ha="left", fontsize=11, fontweight="bold", color=DARK)
    return figure, figure.subplots()


def text_color_on(background: str) -> str:
    """Return dark or white, whichever is easier to read (the contrast of WCAG 2)."""
    channels = (_linear(each) for each in mpl.colors.to_rgb(background))
    luminance = sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), channels, strict=True))
    return DARK if luminance > _EQUAL_CONTRAST else "white"


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    with whole_file(paths[0]) as unfinished:
        figure.savefig(unfinished, format="svg", metadata={"Date": None, "Creator": "cupel"})
    with whole_file(paths[1]) as unfinished:
        figure.savefig(unfinished, format="png", dpi=_PNG_DOTS_PER_INCH, metadata={"Software": "cupel"})
    return paths


def width_of(texts: Sequence[str]) -> float:
    """Estimate how wide the longest of these labels is, in inches."""
    return _CHARACTER_INCHES * max(map(len, texts), default=0)


def title_of(text: str, drawn: int, total: int) -> str:
    return text if drawn == total else f"{text} (the first {drawn} of {total})"


def labels(names: Sequence[str]) -> list[str]:
    """Return shortened names on one line each, without characters that XML lacks; equal ones are numbered."""
    shortened = [_shortened(one_line(_NOT_IN_XML.sub("", name))) or "–" for name in names]
    repeated = {text for text in shortened if shortened.count(text) > 1}
    return [f"{text} ({number})" if text in repeated else text for number, text in enumerate(shortened, start=1)]


def _shortened(text: str) -> str:
    """Remove the middle of a long text: names of models differ at both ends."""
    if len(text) <= _MAX_LABEL:
        return text
    end = _MAX_LABEL // 2 - 1
    return f"{text[: _MAX_LABEL - end - 1]}…{text[-end:]}"
