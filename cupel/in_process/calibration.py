"""Measures the judge of an evaluation in this process on labels of people, by the same rules as on a stack."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cupel.errors import UsageError
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.probes import ProbeResult
from cupel.json_types import Json
from cupel.label_files import LabelRow, label_rows, read_labels
from cupel_core.base.errors import Invalid
from cupel_core.domain.calibration.column_calibrations import calibration_of
from cupel_core.domain.calibration.fingerprints import ScenarioRubric, rubric_fingerprint
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.labelling.judged_probes import JudgedProbe, is_checked, verdict_on
from cupel_core.domain.labelling.labels import RESULT, Label, check_value

_LABELLER = "labeller"
_ROUND = 1
_READ_AT = datetime.fromtimestamp(0, UTC)


def calibrated(evaluation: Evaluation, labels: Path | str | Iterable[Mapping[str, object]], criterion: str) -> Json:
    # The models of the response take a while to import.
    from cupel_core.contract.calibrations import CalibrationResponse

    judged = {each.probe_index: each for each in _judged(evaluation, criterion)}
    if not judged:
        known = ", ".join(_checked(evaluation)) or "no criterion"
        raise UsageError(f"criterion: {criterion} was not checked in this evaluation, but {known}")
    rows = read_labels(Path(labels)) if isinstance(labels, Path | str) else label_rows(labels)
    transcripts = _LabelledResults(evaluation)
    listed = [_label(transcripts, row, criterion, judged) for row in rows]
    # As on a stack, a person has one label per transcript and criterion, which a later one replaces.
    given = {(label.probe_index, label.criterion, label.labeller): label for label in listed}.values()
    graders = evaluation.settings.grader_config
    found = calibration_of(LabelledRun(evaluation.id, evaluation.plan, criterion, judged, given), graders.judge_model)
    rubrics = (ScenarioRubric.of(result.probe.scenario) for result in evaluation.results)
    fingerprint = rubric_fingerprint(criterion, graders, evaluation.content, rubrics, ())
    document: Json = json.loads(CalibrationResponse.of(found, fingerprint).model_dump_json(by_alias=True))
    return document


def _judged(evaluation: Evaluation, criterion: str) -> Iterator[JudgedProbe]:
    for result in evaluation.completed:
        summary = result.transcript.summary if result.transcript else None
        scored = {**(result.scoring.digest() if result.scoring else {}), "code": summary and summary.decision_code}
        if is_checked(scored, criterion):
            yield JudgedProbe(result.probe.index, _ROUND, result.probe.scenario.id, verdict_on(scored, criterion))


def _checked(evaluation: Evaluation) -> list[str]:
    names = {RESULT: None}
    for result in evaluation.completed:
        names |= dict.fromkeys((result.scoring.digest() if result.scoring else {}).get("checks") or ())
    return [name for name in names if any(_judged(evaluation, name))]


def _label(transcripts: "_LabelledResults", row: LabelRow, criterion: str, judged: Mapping[int, JudgedProbe]) -> Label:
    label = row.label
    given = label.get("criterion", criterion)
    try:
        check_value(given, label.get("value", ""))
    except Invalid as error:
        raise UsageError(f"labels: {row.place}: {error}") from None
    found = transcripts.find(label)
    if len(found) != 1:
        raise UsageError(f"labels: {row.place}: names {len(found)} transcripts of the evaluation instead of one")
    if given == criterion and found[0].probe.index not in judged:
        raise UsageError(f"labels: {row.place}: {criterion} was not checked in this transcript")
    is_visible = label.get("verdictVisible", False)
    return Label(
        probe_index=found[0].probe.index,
        retry_round=_ROUND,
        criterion=given,
        labeller=label.get("labeller", _LABELLER),
        value=label["value"],
        created_at=_READ_AT,
        updated_at=_READ_AT,
        note=label.get("note"),
        blind_value=None if is_visible else label["value"],
        is_revealed=is_visible,
    )


class _LabelledResults:
    def __init__(self, evaluation: Evaluation) -> None:
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
