"""The figures of a run's analyses, in a folder: `cupel analyze --plots`."""

from collections.abc import Sequence
from pathlib import Path

from cupel.errors import CupelError
from cupel.extras import require_extra
from cupel.json_types import Json
from cupel.session import Session


def check_plots() -> None:
    """UsageError, with the command that installs it, without matplotlib: before anything is computed."""
    require_extra("plots", "--plots")


def write_plots(session: Session, basic: Json, deep: Json, names: Sequence[str], folder: Path) -> None:
    """Of two analyses of one run; says what was written and what was left out. CupelError if it cannot be written."""
    if basic["figures"] is None or deep["figures"] is None:
        session.remark("--plots: the analysis failed, so there is nothing to draw")
        return
    from cupel.plots.draw import draw_plots  # Only here, because it takes a second to import.

    try:
        drawn = draw_plots(basic["figures"], deep["figures"], names, folder)
    except OSError as error:
        raise CupelError(f"--plots: {folder}: {error.strerror or error}") from error
    for name, reason in drawn.omitted.items():
        session.remark(f"{name} was not drawn: {reason}")
    if drawn.files:
        session.remark(f"{', '.join(path.name for path in drawn.files)} in {folder}")
