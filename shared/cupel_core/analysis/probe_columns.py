"""A block of a run's probes as columns, read from their digests: no text is read."""

from cupel_core.analysis.tabulate import CountedInputs, counted_inputs
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK, ProbeColumns, block_indexes, build_columns
from cupel_core.store import counted_outcomes, runs

_FORMAT = "1"
"""The format of the columns; it is part of their revision, so that a browser's cache has no other format."""


@dataclass(frozen=True)
class ColumnBlock:
    """A block of a run that exists, not read yet."""

    inputs: CountedInputs
    block: int

    @property
    def revision(self) -> str | None:
        """Identifies the columns without reading them; None while the run goes on."""
        inputs = self.inputs
        is_final = inputs.is_final
        return f"{_FORMAT}-{self.block}-{inputs.revision}-{inputs.run.plan.total}" if is_final else None

    def read(self) -> ProbeColumns:
        plan = self.inputs.run.plan
        indexes = block_indexes(plan, self.block)
        return build_columns(plan, indexes, counted_outcomes.list_run(self.inputs.ref, indexes))


def find_block(workspace: str, run_id: str, block: int) -> ColumnBlock:
    """Raises NotFound for an unknown run, and Invalid for a block that it does not have."""
    run = runs.get(RunRef(workspace, run_id))
    last = (run.plan.total - 1) // PROBES_PER_BLOCK
    if block > last:
        raise Invalid.field("block", f"must be at most {last}: the run has {run.plan.total:,} probes")
    return ColumnBlock(counted_inputs(run), block)
