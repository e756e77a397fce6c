"""Import of labels from files: all of them are checked before the first is stored."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.access import Caller
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.labels import check_value
from cupel_core.domain.labelling.views import ImportCounts, ImportedLabel
from cupel_core.domain.runs.run import Run
from cupel_core.runs.labelling.labels import labeller_of
from cupel_core.store import judge_verdicts, labels, runs, scenarios, snapshots
from cupel_core.store.labels import LabelKey
from cupel_core.store.scenarios import ScenarioSummary

_MAX_ERRORS = 100


def import_labels(caller: Caller, run_id: str, imported: Sequence[ImportedLabel], now: datetime) -> ImportCounts:
    """Store labels, each in place of an earlier one of the same person. Importing a file twice changes nothing.

    Raise Invalid with the first errors of the rows; nothing is stored then.
    """
    ref = RunRef(caller.workspace, run_id)
    finder = _TranscriptFinder(runs.get(ref))
    located = _located(finder, imported)
    judged = _judged(ref, imported, located, now)
    made = [
        each.of_transcript(judged[each.criterion, index], each.labeller or labeller_of(caller), now)
        for each, index in zip(imported, located, strict=True)
    ]
    by_key = {LabelKey.of(label): label for label in made}
    before = labels.read_many(ref, list(by_key))
    changed = [label for key, label in by_key.items() if key not in before or not before[key].says_the_same(label)]
    labels.write_many(ref, changed, before)
    created = len(by_key) - len(before)
    return ImportCounts(created, len(changed) - created, len(by_key) - len(changed))


def _located(finder: "_TranscriptFinder", imported: Sequence[ImportedLabel]) -> list[int]:
    """Return the index of each label's probe. Raise Invalid for labels that name no probe of the run, or several."""
    found, errors = list[int](), list[FieldError]()
    for row, each in enumerate(imported):
        try:
            check_value(each.criterion, each.value, each.note)
            found.append(finder.find(each))
        except Invalid as invalid:
            errors += [FieldError(f"labels.{row}.{error.field}", error.message) for error in invalid.errors]
    _raise(errors)
    return found


def _judged(
    ref: RunRef, imported: Sequence[ImportedLabel], located: Sequence[int], now: datetime
) -> Mapping[tuple[str, int], JudgedProbe]:
    wanted = defaultdict[str, set[int]](set)
    for each, index in zip(imported, located, strict=True):
        wanted[each.criterion].add(index)
    found = {
        (criterion, judged.probe_index): judged
        for criterion, indexes in wanted.items()
        for judged in judge_verdicts.list_of_run(ref, criterion, sorted(indexes))
    }
    _raise(
        FieldError(f"labels.{row}", f"the criterion {each.criterion} was not checked, or the probe has no transcript")
        for row, (each, index) in enumerate(zip(imported, located, strict=True))
        if (each.criterion, index) not in found
    )
    _raise(
        FieldError(f"labels.{row}", "the conversation was deleted, or has expired")
        for row, (each, index) in enumerate(zip(imported, located, strict=True))
        if not found[each.criterion, index].is_readable(now)
    )
    return found


def _raise(errors: Iterable[FieldError]) -> None:
    if listed := list(errors)[:_MAX_ERRORS]:
        raise Invalid.fields(listed)


class _TranscriptFinder:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._snapshot = snapshots.get(run.snapshot_key)

    def find(self, label: ImportedLabel) -> int:
        if label.probe_id is not None:
            return self._by_id(label.probe_id)
        plan = self._run.plan
        columns = plan.columns_of(label.model, label.prompt_id)
        if not columns:
            names = ", ".join(column.name for column in plan.columns)
            raise Invalid.field("model", f"must be, with promptId, one of the run's targets: {names}")
        indexes = [
            index
            for case in self._cases(label)
            for index in plan.case_indexes(case)
            if plan.probe(index).column in columns and label.repeat in (None, plan.probe(index).repeat)
        ]
        if len(indexes) != 1:
            raise Invalid.field("scenario", _ambiguity(label, len(indexes)))
        return indexes[0]

    def _by_id(self, probe_id: str) -> int:
        run_id, _, number = probe_id.rpartition("-")
        if run_id != self._run.id or not (number.isascii() and number.isdigit()) or int(number) >= self._run.plan.total:
            raise Invalid.field("probeId", f"must be the id of a probe of this run, such as {self._run.id}-0")
        return int(number)

    def _cases(self, label: ImportedLabel) -> list[int]:
        scenario = label.scenario or ""
        cases = self._by_scenario_id.get(scenario) or self._by_name.get(scenario)
        if not cases:
            raise Invalid.field("scenario", "must be the id or the name of a scenario of this run")
        return [case for case in cases if label.persona_id in (None, self._persona_of(case))]

    def _persona_of(self, case: int) -> str | None:
        persona = self._snapshot.persona(case)
        return persona.id if persona else None

    @cached_property
    def _by_scenario_id(self) -> Mapping[str, list[int]]:
        return self._cases_by(lambda summary: summary.id)

    @cached_property
    def _by_name(self) -> Mapping[str, list[int]]:
        return self._cases_by(lambda summary: summary.name)

    def _cases_by(self, name_of: Callable[[ScenarioSummary], str]) -> Mapping[str, list[int]]:
        cases = defaultdict[str, list[int]](list)
        for case, position in enumerate(self._snapshot.scenario_positions):
            cases[name_of(self._summaries[position])].append(case)
        return cases

    @cached_property
    def _summaries(self) -> Mapping[int, ScenarioSummary]:
        return dict(scenarios.read_summaries(self._snapshot.manifest, sorted(set(self._snapshot.scenario_positions))))


def _ambiguity(label: ImportedLabel, found: int) -> str:
    if not found:
        return "has no probe with this personaId and repeat in the run"
    missing = [
        name
        for name, value in (
            ("model", label.model),
            ("promptId", label.prompt_id),
            ("personaId", label.persona_id),
            ("repeat", label.repeat),
        )
        if value is None
    ]
    return f"names {found} transcripts; say which with {' or '.join(missing)}, or name one by probeId"
