"""Label sets: drawn at random from a run, listed with their progress, and labelled one transcript after the other."""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import batched, islice

from cupel_core.base.errors import Conflict, Invalid, NotFound, named_in_body
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.access import Caller
from cupel_core.domain.calibration.sampling_plans import JudgedTranscript, draw_for_labelling
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.label_sets import (
    Draw,
    LabelSet,
    LabelSetProgress,
    LabelStratum,
    is_positive,
    queue_of,
    stratum_of,
)
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.labelling.views import LabelSetItem, LabelSetSpec, LabelSetView, LabelView
from cupel_core.domain.runs.run import ACTIVE, Run
from cupel_core.domain.runs.views import ProbeView
from cupel_core.domain.text.json_limits import EXACT_INTEGERS
from cupel_core.runs.labelling.labels import labeller_of, unknown_criterion
from cupel_core.runs.probe_ranges import probe_ranges
from cupel_core.runs.probes import build_views, probe_statuses
from cupel_core.store import judge_verdicts, label_sets, labels, rescores, runs
from cupel_core.store.judge_verdicts import MAX_PROBES

MAX_LABEL_SETS = 100
_READ_AT_ONCE = 20


def create(caller: Caller, run_id: str, spec: LabelSetSpec, now: datetime) -> LabelSetView:
    """Draw transcripts for labelling. The same seed draws the same ones from the same outcomes."""
    ref = RunRef(caller.workspace, run_id)
    run = runs.get(ref)
    if run.status in ACTIVE:
        raise Conflict(f"the run is {run.status}; draw when it has ended, so that every transcript can be drawn")
    if spec.rescore_id is not None:
        with named_in_body("rescoreId"):
            rescore = rescores.get(ref, spec.rescore_id)
        if rescore.is_partial:
            raise Invalid.field("rescoreId", "must have graded all transcripts, and not only labelled ones")
    indexes = [index for span in probe_ranges(run.plan, spec.model, spec.prompt_id) for index in span]
    if len(indexes) > MAX_PROBES:
        raise Invalid.field(
            "model",
            f"must select at most {MAX_PROBES:,} probes, because all of their verdicts are read: {len(indexes):,}",
        )
    if len(list(label_sets.list_of_run(ref))) >= MAX_LABEL_SETS:
        raise Conflict(f"the run has {MAX_LABEL_SETS} label sets; delete one first")
    judged = list(judge_verdicts.list_of_run(ref, spec.criterion, indexes, spec.rescore_id))
    if not judged:
        raise unknown_criterion(ref, indexes[:1_000], spec.rescore_id)
    seed = secrets.randbelow(EXACT_INTEGERS) if spec.seed is None else spec.seed
    label_set = _drawn(run, spec, judged, seed, caller, now)
    label_sets.create(ref, label_set)
    return LabelSetView(label_set, LabelSetProgress.of(label_set, ()))


def _drawn(
    run: Run, spec: LabelSetSpec, judged: Sequence[JudgedProbe], seed: int, caller: Caller, now: datetime
) -> LabelSet:
    targets = {each.probe_index: run.plan.column_of(each.probe_index).name for each in judged}
    names = {each.probe_index: stratum_of(targets[each.probe_index], each.verdict, spec.criterion) for each in judged}
    transcripts = [
        JudgedTranscript(
            str(each.probe_index),
            each.scenario_id,
            is_positive(each.verdict, spec.criterion),
            targets[each.probe_index],
        )
        for each in judged
    ]
    population = Counter(names.values())
    numbers = {name: number for number, name in enumerate(sorted(population))}
    draws = tuple(
        Draw(int(each.key), each.probability, numbers[names[int(each.key)]], each.is_labelled_twice)
        for each in draw_for_labelling(transcripts, spec.count, seed)
    )
    counts = Counter(draw.stratum for draw in draws)
    return LabelSet(
        run_id=run.id,
        id=new_id("lbs"),
        criterion=spec.criterion,
        seed=seed,
        created_at=now,
        created_by=labeller_of(caller),
        draws=draws,
        strata=tuple(LabelStratum(name, population[name], counts[number]) for name, number in numbers.items()),
        rescore_id=spec.rescore_id,
        instructions=spec.instructions,
        adjudicator=spec.adjudicator,
        columns=run.plan.columns_of(spec.model, spec.prompt_id),
    )


def get(workspace: str, run_id: str, label_set_id: str) -> LabelSetView:
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    label_set = label_sets.get(ref, label_set_id)
    return LabelSetView(label_set, LabelSetProgress.of(label_set, labels.list_of_run(ref)))


def list_label_sets(workspace: str, run_id: str) -> list[LabelSetView]:
    """Return the label sets of a run, oldest first. Raise NotFound for an unknown run."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    found, given = list(label_sets.list_of_run(ref)), list(labels.list_of_run(ref))
    return [LabelSetView(each, LabelSetProgress.of(each, given)) for each in found]


def delete(workspace: str, run_id: str, label_set_id: str) -> None:
    """Delete a label set. Repeating it changes nothing. Raise Conflict if one of its transcripts has a label: without
    the probabilities of the set, its labels would say something else."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    try:
        label_set = label_sets.get(ref, label_set_id)
    except NotFound:
        return
    progress = LabelSetProgress.of(label_set, labels.list_of_run(ref))
    if labelled := progress.labelled + progress.skipped:
        raise Conflict(f"{labelled} of its transcripts are labelled, and its probabilities weight these labels")
    label_sets.delete(ref, label_set_id)


def list_items(
    caller: Caller,
    run_id: str,
    label_set_id: str,
    *,
    is_pending: bool,
    limit: int,
    cursor: str | None,
    now: datetime,
) -> Iterator[Entry[LabelSetItem]]:
    """Yield the transcripts of a label set in the order in which they are labelled.

    With `is_pending`, only those are listed that the caller is to label next; the list is then at most one page.
    """
    ref = RunRef(caller.workspace, run_id)
    label_set, run = label_sets.get(ref, label_set_id), runs.get(ref)
    labeller, given = labeller_of(caller), list(labels.list_of_run(ref))
    positions = {draw.probe_index: position for position, draw in enumerate(label_set.draws)}
    if is_pending:
        wanted = _readable(run, (positions[index] for index in queue_of(label_set, given, labeller)), label_set, now)
        shown: Iterable[tuple[int, Draw, ProbeView]] = islice(wanted, limit)
    else:
        start = decode_index(cursor)
        shown = _views(run, label_set, range(start, min(start + limit + 1, len(label_set.draws))), now)
    own = {label.probe_index: label for label in given if _is_own(label, label_set, labeller)}
    for position, draw, view in shown:
        label = LabelView(run.id, own[draw.probe_index].readable_at(now)) if draw.probe_index in own else None
        yield Entry(encode_cursor(str(position)), LabelSetItem(position, draw, view, label))


def _is_own(label: Label, label_set: LabelSet, labeller: str) -> bool:
    return label.criterion == label_set.criterion and label.labeller == labeller


def _readable(
    run: Run, positions: Iterable[int], label_set: LabelSet, now: datetime
) -> Iterator[tuple[int, Draw, ProbeView]]:
    """Yield the transcripts whose conversation can still be read, which others cannot be labelled."""
    for batch in batched(positions, _READ_AT_ONCE):
        for position, draw, view in _views(run, label_set, batch, now):
            if view.conversation is not None and view.conversation.messages:
                yield position, draw, view


def _views(
    run: Run, label_set: LabelSet, positions: Sequence[int], now: datetime
) -> Iterator[tuple[int, Draw, ProbeView]]:
    draws = {position: label_set.draws[position] for position in positions}
    indexes = sorted(draw.probe_index for draw in draws.values())
    views = {view.index: view for view in build_views(run, list(probe_statuses(run, indexes, now)), now)}
    return ((position, draw, views[draw.probe_index]) for position, draw in draws.items())
