from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from cupel_core.analysis import results
from cupel_core.base.paging import Entry
from cupel_core.base.preconditions import bytes_etag, etag
from cupel_core.contract.operation import (
    VIEWER,
    Call,
    Ranged,
    Rendered,
    Revalidated,
    counting_time,
    operation,
)
from cupel_core.contract.payloads import render_model
from cupel_core.contract.query import (
    Parameter,
)
from cupel_core.contract.run_tables import (
    CaseNameListResponse,
    CaseNameResponse,
    CaseTextListResponse,
    CaseTextResponse,
    ProbeColumnsResponse,
    ProbeExcerptListResponse,
    ProbeExcerptResponse,
    ProbeMatchesResponse,
)
from cupel_core.domain.runs.case_texts import CaseTexts
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.excerpts import DEFAULT_CHARACTERS, MAX_CHARACTERS
from cupel_core.domain.runs.plan import MAX_PROBES
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK
from cupel_core.runs import case_results, probe_search
from cupel_core.runs.case_results import CaseRange

MAX_EXCERPTS = 100


Block = Annotated[
    int,
    Parameter(
        ge=0,
        lt=MAX_PROBES // PROBES_PER_BLOCK,
        description=f"Number of the block, from 0: the probes from {PROBES_PER_BLOCK} times this index on",
    ),
]


FirstIndex = Annotated[int, Parameter(ge=0, lt=MAX_PROBES, description="Index to begin at")]


@operation(
    "GET /v1/runs/{run_id}/probe-columns",
    "Get the figures of 1,000 probes of a run, as columns",
    role=VIEWER,
    returns="A list per figure, with an entry per probe",
)
def get_probe_columns(call: Call, run_id: str, block: Block) -> Revalidated[Rendered[ProbeColumnsResponse]]:
    """Tables and plots of large runs are drawn from them; no text is read. They can be read while the run goes on. The
    `ETag` changes with the figures; `If-None-Match` is answered with 304, for a run that has ended without reading
    outcomes.
    """
    found = results.find_block(call.workspace, run_id, block)
    revision = found.revision
    if revision is not None and call.knows(etag(revision)):
        return Revalidated(Rendered(b""), etag(revision), is_kept=True)
    body = render_model(ProbeColumnsResponse.from_value(found.read(), run_id=run_id, is_final=revision is not None))
    return Revalidated(Rendered(body), etag(revision) if revision is not None else bytes_etag(body), is_kept=True)


@operation(
    "GET /v1/runs/{run_id}/probe-excerpts",
    "Get the beginning of the answers of up to 100 probes, and why they passed or failed",
    role=VIEWER,
    returns="Excerpts, by index",
)
def list_probe_excerpts(
    call: Call,
    run_id: str,
    indexes: Annotated[
        Sequence[int],
        Parameter(
            min_length=1,
            max_length=MAX_EXCERPTS,
            description=f"Indexes of up to {MAX_EXCERPTS} probes, repeated or separated by commas",
        ),
    ],
    characters: Annotated[
        int, Parameter(ge=1, le=MAX_CHARACTERS, description="Length after which each text is cut")
    ] = DEFAULT_CHARACTERS,
) -> ProbeExcerptListResponse:
    found = probe_search.list_excerpts(call.workspace, run_id, indexes, call.now, characters)
    return ProbeExcerptListResponse(items=[ProbeExcerptResponse.from_value(excerpt) for excerpt in found])


@operation(
    "GET /v1/runs/{run_id}/probe-matches",
    "Find the probes of a run whose conversation has all of these words",
    role=VIEWER,
    returns="The probes among the next 1,000, or among as many as were read in 12 seconds",
)
def find_probe_matches(
    call: Call,
    run_id: str,
    q: Annotated[
        str, Parameter(min_length=1, max_length=200, description="Words, separated by spaces; each is to be found")
    ],
    first: FirstIndex = 0,
) -> ProbeMatchesResponse:
    """Ignores case, and the system prompt. A run is searched by further requests from `nextIndex` on."""
    found = probe_search.find_matches(call.workspace, run_id, first, q, call.now, counting_time())
    return ProbeMatchesResponse(indexes=list(found.indexes), next_index=found.next_index)


@operation(
    "GET /v1/runs/{run_id}/case-names",
    "Get the names and dimensions of up to 1,000 cases of a run",
    role=VIEWER,
    returns="Cases, by index",
)
def get_case_names(call: Call, run_id: str, first: FirstIndex = 0) -> Revalidated[Ranged[CaseNameListResponse]]:
    """Its `ETag` stays the same unless the run is expanded; `If-None-Match` is answered with 304."""
    found = case_results.find_cases(call.workspace, run_id, first)
    return _revalidated(call, found, found.list_names, _named)


def _named(case: tuple[int, CaseView]) -> CaseNameResponse:
    index, view = case
    return CaseNameResponse.from_value(view, index=index)


@operation(
    "GET /v1/runs/{run_id}/case-texts",
    "Get the input, expected answer and variables of up to 1,000 cases of a run",
    role=VIEWER,
    returns="Cases, by index",
)
def get_case_texts(
    call: Call,
    run_id: str,
    first: FirstIndex = 0,
    limit: Annotated[
        int, Parameter(ge=1, le=case_results.MAX_CASES, description="Greatest number of cases to return")
    ] = 100,
) -> Revalidated[Ranged[CaseTextListResponse]]:
    """Its `ETag` stays the same unless the run is expanded; `If-None-Match` is answered with 304."""
    found = case_results.find_cases(call.workspace, run_id, first, limit)
    return _revalidated(call, found, found.list_texts, _with_texts)


def _with_texts(case: tuple[int, CaseTexts]) -> CaseTextResponse:
    index, texts = case
    return CaseTextResponse.from_value(texts, index=index)


def _revalidated(
    call: Call, found: CaseRange, entries: Callable[[], Iterable[Entry[Any]]], render: Callable[[Any], Any]
) -> Revalidated[Ranged[Any]]:
    tag = etag(found.revision)
    return Revalidated(Ranged(() if call.knows(tag) else entries(), len(found.cases), render), tag)
