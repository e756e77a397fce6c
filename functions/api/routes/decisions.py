"""Decisions that a pattern would read from answers."""

from api.routing import OperationRouter
from cupel_core.base import event_loop
from cupel_core.base.errors import Invalid
from cupel_core.contract.decisions import DecisionsResponse, ReadDecisionResponse, ReadDecisions
from cupel_core.domain.text.patterns import decision_pattern_error
from cupel_core.scoring.decision_search import read_each

router = OperationRouter()


@router.operation("readDecisions")
def read_decisions(body: ReadDecisions) -> DecisionsResponse:
    if error := decision_pattern_error(body.pattern):
        raise Invalid.field("pattern", error)
    found = event_loop.run(read_each(router.workspace, body.pattern, body.answers))
    return DecisionsResponse(items=[ReadDecisionResponse(code=each.code, error=each.error) for each in found])
