"""Labels: verdicts of people on transcripts, by which the accuracy of a judge is measured."""

from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT, fill_page, slice_page
from cupel_core.contract.label_sets import (
    CreateLabelSet,
    LabelSetItemPage,
    LabelSetItemResponse,
    LabelSetPage,
    LabelSetResponse,
)
from cupel_core.contract.labels import (
    AddLabels,
    LabelImportResponse,
    LabelPage,
    LabelResponse,
    RevealedVerdictResponse,
    RevealVerdict,
    SaveLabel,
)
from cupel_core.contract.operation import MEMBER, VIEWER, Call, Listed, Replay, operation
from cupel_core.contract.query import Cursor, Limit, Parameter
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.domain.labelling.labels import (
    MAX_CRITERION_LENGTH,
    MAX_LABELLER_LENGTH,
    MAX_LABELS_PER_IMPORT,
    RESULT,
)
from cupel_core.domain.labelling.views import LabelSetView
from cupel_core.domain.runs.plan import MAX_PROBES
from cupel_core.runs.labelling import imports, label_sets
from cupel_core.runs.labelling import labels as given_labels

_CriterionFilter = Annotated[
    str | None,
    Parameter(min_length=1, max_length=MAX_CRITERION_LENGTH, description="Return only labels of this criterion"),
]
_LabellerFilter = Annotated[
    str | None,
    Parameter(min_length=1, max_length=MAX_LABELLER_LENGTH, description="Return only labels of this person"),
]


@operation(
    "PUT /v1/probes/{probe_id}/label",
    "Label a transcript",
    role=MEMBER,
    is_for_labellers=True,
    returns="The label",
    tag="labels",
    is_repeatable=True,
)
def save_label(call: Call, probe_id: str, body: SaveLabel) -> LabelResponse:
    """A person has one label per transcript and criterion, which a later one replaces. What was said before the judge's
    verdict was shown is kept as `blindValue`. 409 for a probe without a transcript.
    """
    label = given_labels.save(call.caller, probe_id, body.new_label(), call.now)
    return LabelResponse.from_value(label)


@operation(
    "DELETE /v1/probes/{probe_id}/label",
    "Remove a label",
    role=MEMBER,
    is_for_labellers=True,
    returns="Removed",
    tag="labels",
)
def delete_label(
    call: Call,
    probe_id: str,
    criterion: Annotated[
        str, Parameter(min_length=1, max_length=MAX_CRITERION_LENGTH, description="Criterion of the label")
    ] = RESULT,
    labeller: Annotated[
        str | None,
        Parameter(min_length=1, max_length=MAX_LABELLER_LENGTH, description="Who gave it; defaults to the caller"),
    ] = None,
) -> None:
    given_labels.delete(call.caller, probe_id, criterion, labeller)


@operation(
    "POST /v1/probes/{probe_id}/label/verdict",
    "Show the judge's verdict on a transcript that the caller has labelled",
    role=MEMBER,
    is_for_labellers=True,
    returns="The verdict and the label",
    tag="labels",
    is_repeatable=True,
)
def reveal_verdict(call: Call, probe_id: str, body: RevealVerdict) -> RevealedVerdictResponse:
    """The label keeps its `blindValue` from then on. 409 before the caller has labelled the transcript."""
    revealed = given_labels.reveal(call.caller, probe_id, body.criterion, call.now)
    return RevealedVerdictResponse.from_value(revealed)


@operation(
    "GET /v1/runs/{run_id}/labels",
    "List the labels of a run",
    role=VIEWER,
    returns="A page of labels, by probe index",
    tag="labels",
)
def list_labels(
    call: Call,
    run_id: str,
    criterion: _CriterionFilter = None,
    labeller: _LabellerFilter = None,
    probe_index: Annotated[
        int | None, Parameter(ge=0, lt=MAX_PROBES, description="Return only labels of the probe with this index")
    ] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[LabelPage]:
    entries = given_labels.list_labels(call.workspace, run_id, criterion, labeller, cursor, call.now, probe_index)
    return Listed(entries, LabelResponse.from_value)


@operation(
    "POST /v1/runs/{run_id}/labels/import",
    f"Import up to {MAX_LABELS_PER_IMPORT:,} labels",
    role=MEMBER,
    returns="How many were created, changed, or stored already",
    tag="labels",
    is_repeatable=True,
)
def add_labels(call: Call, run_id: str, body: AddLabels) -> LabelImportResponse:
    """All labels are checked before the first is stored. Importing them again changes nothing."""
    counts = imports.import_labels(call.caller, run_id, body.imported(), call.now)
    return LabelImportResponse.from_value(counts)


@operation(
    "POST /v1/runs/{run_id}/label-sets",
    "Draw transcripts for labelling",
    role=MEMBER,
    returns="The label set",
    tag="labels",
    status=201,
    location="/v1/runs/{run_id}/label-sets/{id}",
    replay=Replay.CREATED,
)
def create_label_set(call: Call, run_id: str, body: CreateLabelSet) -> LabelSetResponse:
    """Scenarios are drawn first, and one transcript of each, with known probabilities. The verdicts that decide them
    are those at this moment."""
    return _label_set(label_sets.create(call.caller, run_id, body.spec(), call.now))


@operation(
    "GET /v1/runs/{run_id}/label-sets",
    "List the label sets of a run, oldest first",
    role=VIEWER,
    is_for_labellers=True,
    returns="A page of label sets, with their progress",
    tag="labels",
)
def list_label_sets(
    call: Call, run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[LabelSetPage]:
    """Labellers see neither the strata, which show verdicts, nor who else has labelled."""
    found = label_sets.list_label_sets(call.workspace, run_id)
    return Listed(slice_page(found, limit, cursor), lambda view: _seen_by(call.caller, _label_set(view)))


@operation(
    "GET /v1/runs/{run_id}/label-sets/{label_set_id}",
    "Get a label set",
    role=VIEWER,
    is_for_labellers=True,
    returns="The label set and its progress",
    tag="labels",
)
def get_label_set(call: Call, run_id: str, label_set_id: str) -> LabelSetResponse:
    """Labellers see neither the strata, which show verdicts, nor who else has labelled."""
    return _seen_by(call.caller, _label_set(label_sets.get(call.workspace, run_id, label_set_id)))


@operation(
    "DELETE /v1/runs/{run_id}/label-sets/{label_set_id}",
    "Delete a label set without labels",
    role=MEMBER,
    returns="Deleted",
    tag="labels",
)
def delete_label_set(call: Call, run_id: str, label_set_id: str) -> None:
    """409 if one of its transcripts has a label, because the probabilities of the set weight it."""
    label_sets.delete(call.workspace, run_id, label_set_id)


@operation(
    "GET /v1/runs/{run_id}/label-sets/{label_set_id}/items",
    "List the transcripts of a label set, without the judge's verdicts",
    role=VIEWER,
    is_for_labellers=True,
    returns="A page of transcripts, in the order in which they are labelled",
    tag="labels",
)
def list_label_set_items(
    call: Call,
    run_id: str,
    label_set_id: str,
    pending: Annotated[
        bool, Parameter(description="Return only transcripts that the caller is to label next, on one page")
    ] = False,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[LabelSetItemPage]:
    entries = label_sets.list_items(
        call.caller, run_id, label_set_id, is_pending=pending, limit=limit, cursor=cursor, now=call.now
    )
    return Listed(fill_page(entries, limit), LabelSetItemResponse.of)


def _label_set(view: LabelSetView) -> LabelSetResponse:
    draws = view.label_set.draws
    return LabelSetResponse.from_value(view, count=len(draws), to_label_twice=sum(draw.is_doubled for draw in draws))


def _seen_by(caller: Caller, label_set: LabelSetResponse) -> LabelSetResponse:
    if caller.role is not AccessRole.LABELLER:
        return label_set
    labeller, counts = given_labels.labeller_of(caller), label_set.progress.by_labeller
    own = {name: number for name, number in counts.items() if name == labeller}
    progress = label_set.progress.model_copy(update={"by_labeller": own})
    return label_set.model_copy(update={"strata": [], "rescore_id": None, "progress": progress})
