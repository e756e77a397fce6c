from cupel_core.base import event_loop
from cupel_core.base.errors import Invalid
from cupel_core.contract.decisions import DecisionsResponse, ReadDecisionResponse, ReadDecisions
from cupel_core.contract.operation import (
    MEMBER,
    Call,
    operation,
)
from cupel_core.domain.text.patterns import decision_pattern_error
from cupel_core.scoring.decision_search import read_each


@operation(
    "POST /v1/decisions",
    "Read the decisions of up to 50 answers with a pattern",
    role=MEMBER,
    returns="The decision of each answer",
    tag="definitions",
    is_repeatable=True,
)
def read_decisions(call: Call, body: ReadDecisions) -> DecisionsResponse:
    if error := decision_pattern_error(body.pattern):
        raise Invalid.field("pattern", error)
    found = event_loop.run(read_each(call.workspace, body.pattern, body.answers))
    return DecisionsResponse(items=[ReadDecisionResponse(code=each.code, error=each.error) for each in found])
