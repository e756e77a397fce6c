"""What tables and plots of a large run are drawn from. Blocks are named by number, so that they can be read at once."""

from collections.abc import Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_range
from api.parameters import counting_time
from api.rendering import CONTENT_TYPE, Rendered, documented, render_model
from api.routing import OperationRouter
from cupel_core.analysis import probe_columns
from cupel_core.base.clock import utc_now
from cupel_core.base.preconditions import bytes_etag, etag
from cupel_core.contract.run_tables import (
    CaseNameListResponse,
    CaseNameResponse,
    ProbeColumnsResponse,
    ProbeExcerptListResponse,
    ProbeExcerptResponse,
    ProbeMatchesResponse,
)
from cupel_core.domain.runs.plan import MAX_PROBES
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK
from cupel_core.runs import case_names, excerpts

router = OperationRouter()
MAX_EXCERPTS = 100
_CACHED = {"Cache-Control": "private, no-cache"}
"""A browser keeps the body, and asks each time whether it is still the same: the bodies have no text."""
Block = Annotated[
    int,
    Query(
        ge=0,
        lt=MAX_PROBES // PROBES_PER_BLOCK,
        description=f"Number of the block, from 0: the probes from {PROBES_PER_BLOCK} times this index on",
    ),
]
FirstIndex = Annotated[int, Query(ge=0, lt=MAX_PROBES, description="Index to begin at")]


@router.operation(
    "getProbeColumns", responses=documented(200, "A list per figure, with an entry per probe", ProbeColumnsResponse)
)
def get_probe_columns(run_id: str, block: Block) -> Response[str]:
    found = probe_columns.find_block(router.workspace, run_id, block)
    revision = found.revision
    if revision is not None and router.is_known(etag(revision)):
        return _cached(b"", etag(revision))
    body = render_model(ProbeColumnsResponse.of(run_id, found.read(), is_final=revision is not None))
    return _cached(body, etag(revision) if revision is not None else bytes_etag(body))


@router.operation("listProbeExcerpts")
def list_probe_excerpts(
    run_id: str,
    indexes: Annotated[
        Sequence[int],
        Query(
            min_length=1,
            max_length=MAX_EXCERPTS,
            description=f"Indexes of up to {MAX_EXCERPTS} probes, repeated or separated by commas",
        ),
    ],
) -> ProbeExcerptListResponse:
    found = excerpts.list_excerpts(router.workspace, run_id, indexes, utc_now())
    return ProbeExcerptListResponse(items=[ProbeExcerptResponse.of(excerpt) for excerpt in found])


@router.operation("findProbeMatches")
def find_probe_matches(
    run_id: str,
    q: Annotated[
        str, Query(min_length=1, max_length=200, description="Words, separated by spaces; each is to be found")
    ],
    first: FirstIndex = 0,
) -> ProbeMatchesResponse:
    found = excerpts.find_matches(router.workspace, run_id, first, q, utc_now(), counting_time())
    return ProbeMatchesResponse(indexes=list(found.indexes), next_index=found.next_index)


@router.operation("getCaseNames")
def get_case_names(run_id: str, first: FirstIndex = 0) -> Rendered[CaseNameListResponse]:
    found = case_names.find_case_names(router.workspace, run_id, first)
    tag = etag(found.revision)
    if router.is_known(tag):
        return router.revalidated(Rendered(b""), tag)
    named = bounded_range(
        CaseNameListResponse, found.read(), case_names.MAX_CASES, lambda each: CaseNameResponse.of(*each)
    )
    return router.revalidated(named, tag)


def _cached(body: bytes, tag: str) -> Response[str]:
    return router.revalidated(Response(200, CONTENT_TYPE, body.decode(), headers=dict(_CACHED)), tag)
