"""Rates of the runs of a list.

They are stored when a run is analyzed, which is before it completes. A list reads them for all of its runs at once, and
counts those that are missing: of a run that was corrected since, of a cancelled run, and of one whose analysis failed.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from cupel_core.analysis.tabulate import CountedInputs, inputs_of, read_available
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counts import InvalidCountFile, RunCounts
from cupel_core.domain.analysis.run_rates import run_rates
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.domain.runs.run_rates import RunRates
from cupel_core.store import run_rates as stored_rates

SECONDS_TO_COUNT = 3.0
"""A list may count outcomes for this long."""
_READERS = 8


def save_rates(inputs: CountedInputs, counts: RunCounts) -> RunRates:
    rates = run_rates(counts)
    stored_rates.save(inputs.ref, inputs.revision, rates)
    return rates


def read_rates(found: Sequence[Run], has_time: Callable[[], bool]) -> dict[str, RunRates]:
    """Return the rates by the id of the run, without runs that go on or have no completed probe.

    A run that there was no time to count is missing too. The next call continues with it.
    """
    ended = [run for run in found if run.status in TERMINAL and (run.settled is None or run.settled.completed)]
    stored = stored_rates.get_all([_ref(run) for run in ended])

    def read(run: Run) -> RunRates | None:
        corrections, revision, rates = stored[_ref(run)]
        inputs = inputs_of(run, None, corrections)
        return rates if revision == inputs.revision else _count(inputs, has_time)

    with ThreadPoolExecutor(_READERS) as pool:
        rates = zip(ended, pool.map(read, ended), strict=True)
        return {run.id: each for run, each in rates if each is not None and each.completed}


def _ref(run: Run) -> RunRef:
    return RunRef(run.workspace, run.id)


def _count(inputs: CountedInputs, has_time: Callable[[], bool]) -> RunRates | None:
    try:
        available = read_available(inputs, has_time)
    except InvalidCountFile:  # The results of this run say so; the list has the other runs.
        return None
    return save_rates(inputs, available.counts) if available.is_complete else None
