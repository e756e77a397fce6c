from collections.abc import Mapping
from typing import NamedTuple

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.estimates import GroupEstimate
from cupel_core.domain.analysis.extrapolation import GroupExtrapolation, RunSample
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import Run


class ColumnResults(NamedTuple):
    column: Column
    probes: int
    estimate: GroupEstimate
    extrapolated: GroupExtrapolation | None
    """Figures are extrapolated to all scenarios of the definition; None unless the run is a sample without missing
    probes."""
    totals: ColumnTotals
    judge_accuracy: JudgeAccuracy | None = None
    """None unless people have labelled transcripts of it."""


class RunResults(NamedTuple):
    run: Run
    recorded: int
    is_complete: bool
    columns: tuple[ColumnResults, ...]
    sample: RunSample
    messages: Mapping[int, str]
    """Each probe that is an example, by index, has its error, or why its answer is unscored."""
