from collections.abc import Iterator

from cupel_core.analysis.reports.scan import Scan
from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.contract.report_content import GraderAgreementResponse
from cupel_core.domain.reports.grader_agreement import MIN_PAIRS, GraderPairs
from cupel_core.store import rescores, runs

MAX_PROBES = 20_000
"""A pass over the outcomes of a larger run takes longer than a request may; its report has the agreement."""
MAX_RESCORES = 10


def list_agreement(workspace: str, run_id: str) -> Iterator[GraderAgreementResponse]:
    """Yield the agreement with the newest rescores, and with corrections if there are any. Raises NotFound for an
    unknown run, and Invalid for one that is too large."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if run.plan.total > MAX_PROBES:
        raise Invalid(f"the run has {run.plan.total:,} probes; of more than {MAX_PROBES:,}, a report has the agreement")
    newest = [rescore.id for rescore in rescores.list_rescores(ref, MAX_RESCORES, None).items]
    pairs = Scan(run, frozenset(), newest).read().pairs
    return (agreement_response(*names, counted) for names, counted in pairs.items())


def agreement_response(first: str, second: str, pairs: GraderPairs) -> GraderAgreementResponse:
    interval, few = pairs.kappa_interval(), pairs.conversations < MIN_PAIRS
    return GraderAgreementResponse(
        first=first,
        second=second,
        conversations=pairs.conversations,
        first_pass_rate=pairs.first_pass_rate,
        second_pass_rate=pairs.second_pass_rate,
        agreement=pairs.agreement,
        kappa=pairs.kappa,
        kappa_interval=list(interval) if interval else None,
        alpha=pairs.alpha,
        note=f"fewer than {MIN_PAIRS} conversations: these figures say little" if few else None,
    )
