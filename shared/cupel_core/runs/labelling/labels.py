"""Labels as people write and read them: saved one by one, shown the judge's verdict, removed, and listed."""

from collections.abc import Iterator
from datetime import datetime

from cupel_core.base.deferred import replace
from cupel_core.base.errors import Conflict, Forbidden, Invalid, NotFound, named_in_body
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_cursor, encode_cursor
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.label_sets import LabelSet
from cupel_core.domain.labelling.labels import DECISION, RESULT, Label, check_value
from cupel_core.domain.labelling.views import LabelView, NewLabel, RevealedVerdict
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.scoring.scoring import MAX_CHECKS, check_names
from cupel_core.runs.probes import locate_probe
from cupel_core.store import judge_verdicts, label_sets, labels, outcomes, rescore_results, runs
from cupel_core.store.labels import LabelKey


def labeller_of(caller: Caller) -> str:
    """Return the id of the token, or that of the user at the identity provider: names change and are not unique.

    In a session of the web page, it is the token that opened the session.
    """
    return caller.owner_id


def save(caller: Caller, probe_id: str, new: NewLabel, now: datetime) -> LabelView:
    """Store what a person says of a transcript. Raise Conflict for a probe without one."""
    run, index = locate_probe(caller.workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    label_set = _permitted_set(caller, ref, index, new)
    check_value(new.criterion, new.value, new.note)
    judged = _judged(ref, index, new, label_set.rescore_id if label_set else None)
    labeller = new.labeller or labeller_of(caller)
    if _knows_the_verdict(ref, judged, labeller):
        new = replace(new, is_verdict_visible=True)
    label = labels.save(ref, new.of_transcript(judged, labeller, now))
    return LabelView(run.id, label)


def _knows_the_verdict(ref: RunRef, judged: JudgedProbe, labeller: str) -> bool:
    """Return whether a verdict on the transcript was shown to this person: the reason of one criterion may name the
    verdicts on others."""
    return any(
        label.is_revealed and (label.labeller, label.retry_round) == (labeller, judged.retry_round)
        for label in labels.list_of_probe(ref, judged.probe_index)
    )


def reveal(caller: Caller, probe_id: str, criterion: str, now: datetime) -> RevealedVerdict:
    """Return the judge's verdict on a transcript that the caller has labelled. A label that is changed afterwards keeps
    its blind value."""
    run, index = locate_probe(caller.workspace, probe_id)
    ref = RunRef(run.workspace, run.id)
    own = _own_label(ref, index, criterion, labeller_of(caller))
    rescore_id = _rescore_of(ref, own.label_set_id)
    judged = next(judge_verdicts.list_of_run(ref, criterion, [index], rescore_id), None)
    if judged is not None and judged.retry_round != own.retry_round:
        raise _not_labelled()
    label = labels.reveal(ref, LabelKey.of(own))
    if judged is None or label is None:
        raise Conflict(f"the transcript of the probe {probe_id} or its label was removed at the same time")
    return RevealedVerdict(LabelView(run.id, label), judged.verdict, _reason(ref, index, criterion, rescore_id, now))


def delete(caller: Caller, probe_id: str, criterion: str, labeller: str | None) -> None:
    """Remove a label. Repeating it changes nothing. Raise Conflict for one whose verdict was shown, unless an admin
    asks."""
    run, index = locate_probe(caller.workspace, probe_id)
    ref, name = RunRef(run.workspace, run.id), labeller or labeller_of(caller)
    if caller.role is AccessRole.LABELLER and name != labeller_of(caller):
        raise Forbidden("a labeller can remove only labels of their own")
    for label in list(labels.list_of_probe(ref, index)):
        if (label.criterion, label.labeller) != (criterion, name):
            continue
        if label.is_revealed and label.value is not None and caller.role is not AccessRole.ADMIN:
            raise Conflict("the judge's verdict was shown for this label; change its value instead of removing it")
        labels.delete(ref, LabelKey.of(label))


def list_labels(
    workspace: str,
    run_id: str,
    criterion: str | None,
    labeller: str | None,
    cursor: str | None,
    now: datetime,
    probe_index: int | None = None,
) -> Iterator[Entry[LabelView]]:
    """Yield the labels of a run, or of one of its probes, by probe index. Raise NotFound for an unknown run."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    start = decode_cursor(cursor) if cursor else ""
    found = labels.list_of_run(ref, start) if probe_index is None else labels.list_of_probe(ref, probe_index)
    for label in found:
        key = LabelKey.of(label).sort_key
        if key >= start and criterion in (None, label.criterion) and labeller in (None, label.labeller):
            yield Entry(encode_cursor(key), LabelView(run_id, label.readable_at(now)))


def _permitted_set(caller: Caller, ref: RunRef, index: int, new: NewLabel) -> LabelSet | None:
    """Return the label set that is named. Raise Forbidden if a labeller writes in another's name or outside a label
    set, and Invalid for a label set that does not have the transcript."""
    if caller.role is AccessRole.LABELLER:
        if new.labeller not in (None, labeller_of(caller)):
            raise Forbidden("a labeller can write labels only in their own name: leave out labeller")
        if new.label_set_id is None:
            raise Forbidden("a labeller can label only transcripts of a label set: labelSetId names it")
    if new.label_set_id is None:
        return None
    with named_in_body("labelSetId"):
        label_set = label_sets.get(ref, new.label_set_id)
    if label_set.criterion != new.criterion:
        raise Invalid.field("criterion", f"must be {label_set.criterion}, the criterion of the label set")
    if label_set.draw_of(index) is None:
        raise Invalid.field("labelSetId", f"the label set {label_set.id} does not have this transcript")
    return label_set


def _judged(ref: RunRef, index: int, new: NewLabel, rescore_id: str | None) -> JudgedProbe:
    """Return the verdict on the transcript. Raise Conflict if there is no transcript to read, and Invalid for an
    unknown criterion. A comment on the result needs no verdict."""
    outcome = outcomes.get(ref, index)
    probe = transcript_id(ref.run_id, index)
    if not isinstance(outcome, Transcript):
        raise Conflict(f"the probe {probe} has no transcript: it has not completed")
    if not outcome.messages:
        raise Conflict(f"the conversation of the probe {probe} was deleted, or has expired")
    judged = next(judge_verdicts.list_of_run(ref, new.criterion, [index], rescore_id), None)
    if judged is not None:
        return judged
    if new.value is None and new.criterion == RESULT:
        return JudgedProbe(index, outcome.retry_round, outcome.scenario_id, None, outcome.content_expires_at)
    raise unknown_criterion(ref, [index], rescore_id)


def unknown_criterion(ref: RunRef, indexes: list[int], rescore_id: str | None = None) -> Invalid:
    known = judge_verdicts.criteria_of(ref, indexes, rescore_id)
    listed = f"one of {', '.join(known)}" if known else "a criterion that was checked; nothing was checked here"
    return Invalid.field("criterion", f"must be {listed}")


def _own_label(ref: RunRef, index: int, criterion: str, labeller: str) -> Label:
    own = [
        each
        for each in labels.list_of_probe(ref, index)
        if (each.criterion, each.labeller) == (criterion, labeller) and each.value is not None
    ]
    if not own:
        raise _not_labelled()
    return own[-1]


def _not_labelled() -> Conflict:
    return Conflict("label the transcript first: the judge's verdict is shown afterwards")


def _rescore_of(ref: RunRef, label_set_id: str | None) -> str | None:
    """Return the rescore of a label set; None for the run's own verdicts, also if the label set was deleted."""
    try:
        return label_sets.get(ref, label_set_id).rescore_id if label_set_id else None
    except NotFound:
        return None


def _reason(ref: RunRef, index: int, criterion: str, rescore_id: str | None, now: datetime) -> str | None:
    scoring, summary = None, None
    if rescore_id is not None:
        result = rescore_results.find(ref, rescore_id, index)
        scoring = result.readable_at(now).scoring if result else None
    elif isinstance(outcome := outcomes.get(ref, index), Transcript):
        readable = readable_at(outcome, now)
        scoring, summary = readable.scoring, readable.summary
    if criterion == DECISION:
        return summary.decision_text if summary else None
    if scoring is None:
        return None
    if criterion == RESULT:
        return scoring.reason or None
    names = check_names(each.metric or each.type for each in scoring.results[:MAX_CHECKS])
    return next((each.reason for name, each in zip(names, scoring.results, strict=False) if name == criterion), None)
