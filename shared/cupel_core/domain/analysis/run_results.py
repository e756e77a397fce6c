"""The result table of a run: a row per target and prompt."""

from collections.abc import Mapping
from typing import NamedTuple

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.estimates import GroupEstimate
from cupel_core.domain.analysis.extrapolation import GroupExtrapolation, RunSample
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import Run


class ColumnResults(NamedTuple):
    """Of one target, asked by one prompt."""

    column: Column
    probes: int
    """That the run has."""
    estimate: GroupEstimate
    extrapolated: GroupExtrapolation | None
    """To all scenarios of the definition; None unless the run is a sample, and every probe has an outcome."""
    totals: ColumnTotals


class RunResults(NamedTuple):
    run: Run
    recorded: int
    """Probes with an outcome."""
    is_complete: bool
    """Whether all of them are counted."""
    columns: tuple[ColumnResults, ...]
    sample: RunSample
    """The part of the scenarios that the run has."""
    messages: Mapping[int, str]
    """It has the message of each probe that is an example, by index: its error, or why its answer is unscored."""
