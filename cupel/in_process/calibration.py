"""Measures the judge of an evaluation in this process on labels of people, by the same rules as on a stack."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from cupel.errors import UsageError
from cupel.in_process.probes import ProbeResult
from cupel.json_types import Json
from cupel.label_files import LabelRow, label_rows, read_labels
from cupel_core.base.errors import Invalid
from cupel_core.domain.calibration.column_calibrations import calibration_of
from cupel_core.domain.calibration.fingerprints import ScenarioRubric, rubric_fingerprint
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.labelling.judged_probes import JudgedProbe, criteria_of, is_checked, verdict_on
from cupel_core.domain.labelling.labels import Label, check_value
from cupel_core.domain.labelling.views import NewLabel
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.grader_config import GraderConfig

_LABELLER = "labeller"
_ROUND = 1
_READ_AT = datetime.fromtimestamp(0, UTC)


class JudgedEvaluation(NamedTuple):
    id: str
    plan: Plan
    content: Content
    graders: GraderConfig
    results: Sequence[ProbeResult]


def calibrated(
    evaluation: JudgedEvaluation, labels: Path | str | Iterable[Mapping[str, object]], criterion: str
) -> Json:
    # The models of the response take a while to import.
    from cupel_core.contract.calibrations import CalibrationResponse

    judged = {each.probe_index: each for each in _judged(evaluation, criterion)}
    if not judged:
        known = ", ".join({name: None for _, scored in _scored(evaluation) for name in criteria_of(scored)})
        raise UsageError(f"criterion: {criterion} was not checked in this evaluation, but {known or 'nothing'}")
    rows = read_labels(Path(labels)) if isinstance(labels, Path | str) else label_rows(labels)
    transcripts = _LabelledResults(evaluation)
    listed = [label for row in rows if (label := _label(transcripts, row, criterion, judged))]
    # As on a stack, a person has one label per transcript, which a later one replaces.
    given = {(label.probe_index, label.labeller): label for label in listed}.values()
    graders = evaluation.graders
    found = calibration_of(LabelledRun(evaluation.id, evaluation.plan, criterion, judged, given), graders.judge_model)
    rubrics = (ScenarioRubric.of(result.probe.scenario) for result in evaluation.results)
    fingerprint = rubric_fingerprint(criterion, graders, evaluation.content, rubrics, ())
    document: Json = json.loads(CalibrationResponse.of(found, fingerprint).model_dump_json(by_alias=True))
    return document


def _scored(evaluation: JudgedEvaluation) -> Iterator[tuple[ProbeResult, Mapping[str, Any]]]:
    """Yield the completed conversations, each with what its graders say in the form that `verdict_on` reads."""
    for result in evaluation.results:
        if result.transcript:
            summary = result.transcript.summary
            graded = result.scoring.digest() if result.scoring else {}
            yield result, {**graded, "code": summary and summary.decision_code}


def _judged(evaluation: JudgedEvaluation, criterion: str) -> Iterator[JudgedProbe]:
    for result, scored in _scored(evaluation):
        if is_checked(scored, criterion):
            yield JudgedProbe(result.probe.index, _ROUND, result.probe.scenario.id, verdict_on(scored, criterion))


def _label(
    transcripts: "_LabelledResults", row: LabelRow, criterion: str, judged: Mapping[int, JudgedProbe]
) -> Label | None:
    """Return the label of a row; None if it is of another criterion."""
    fields = row.label
    new = NewLabel(
        fields.get("criterion", criterion),
        fields.get("value"),
        fields.get("note"),
        is_verdict_visible=fields.get("verdictVisible", False),
    )
    try:
        check_value(new.criterion, new.value, new.note)
    except Invalid as error:
        raise UsageError(f"labels: {row.place}: {error}") from None
    found = transcripts.find(fields)
    if len(found) != 1:
        raise UsageError(f"labels: {row.place}: names {len(found)} transcripts of the evaluation instead of one")
    probe = judged.get(found[0].probe.index)
    if new.criterion != criterion:
        return None
    if probe is None:
        raise UsageError(f"labels: {row.place}: {criterion} was not checked in this transcript")
    return new.of_transcript(probe, fields.get("labeller", _LABELLER), _READ_AT)


class _LabelledResults:
    def __init__(self, evaluation: JudgedEvaluation) -> None:
        self._by_id = {f"{evaluation.id}-{result.probe.index}": result for result in evaluation.results}
        self._by_scenario = defaultdict[str, list[ProbeResult]](list)
        for result in evaluation.results:
            for name in {result.probe.scenario.id, result.probe.scenario.name}:
                self._by_scenario[name].append(result)

    def find(self, label: Json) -> list[ProbeResult]:
        """Return the conversations that the label names: by the id of the probe, or by the columns that it has."""
        if (probe_id := label.get("probeId")) is not None:
            return [self._by_id[probe_id]] if probe_id in self._by_id else []
        return [result for result in self._by_scenario.get(label.get("scenario", ""), ()) if _is_named(result, label)]


def _is_named(result: ProbeResult, label: Json) -> bool:
    persona = result.probe.persona
    personas = (persona.id, persona.name) if persona else ()
    return (
        label.get("model") in (None, result.target, result.probe.column.model_id)
        and label.get("promptId") in (None, result.prompt)
        and label.get("personaId") in (None, *personas)
        and label.get("repeat") in (None, result.repeat)
    )
