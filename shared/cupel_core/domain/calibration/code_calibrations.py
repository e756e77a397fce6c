"""Calibrates a judge's codes 1-5 on labels that are codes, too, by target and prompt."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from cupel_core.domain.calibration.calibrations import ColumnCodes, Disagreement
from cupel_core.domain.calibration.code_agreement import CodePair, PersonCode, code_agreement
from cupel_core.domain.calibration.code_means import LabelledCode, ScenarioCodes, corrected_code_mean
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.runs.identifiers import transcript_id


def code_columns(labelled: LabelledRun) -> Iterator[ColumnCodes]:
    by_column, codes = _by_column(labelled), _scenario_codes(labelled)
    for column, indexes in sorted(by_column.items()):
        pairs, means = list[CodePair](), list[LabelledCode]()
        coded = {index: own for index in indexes if (own := people_codes(labelled, index))}
        decided = {index: own for index, own in coded.items() if labelled.judged[index].verdict is not None}
        for index, own in decided.items():
            scenario, judge = labelled.judged[index].scenario_id, float(labelled.judged[index].verdict or 0)
            weight = labelled.weights[index]
            pairs += [CodePair(scenario, judge, code, weight / len(own)) for code in own]
            means.append(LabelledCode(scenario, judge, fsum(own) / len(own), weight))
        yield ColumnCodes(
            labelled.plan.columns[column],
            code_agreement(len(decided), len(indexes) - len(coded), len(coded) - len(decided), pairs),
            corrected_code_mean(means, codes.get(column, ())),
        )


def people_codes(labelled: LabelledRun, index: int) -> list[float]:
    """Return what the adjudicator says, or else all people, without skips."""
    return [float(label.counted_value) for label in labelled.counted(index) if label.counted_value is not None]


def coders(labelled: LabelledRun) -> Iterator[PersonCode]:
    for index, label, is_first in labelled.first_pass():
        if is_first:
            value = label.counted_value
            yield PersonCode(str(index), labelled.judged[index].scenario_id, None if value is None else float(value))


def code_disagreements(labelled: LabelledRun) -> Iterator[Disagreement]:
    """Yield the transcripts on which the judge's code is none of the people's, those with the largest errors first."""
    found = list[tuple[float, int, str, str]]()
    for index in labelled.weights:
        verdict, own = labelled.judged[index].verdict, people_codes(labelled, index)
        if verdict is not None and own and float(verdict) not in own:
            mean = fsum(own) / len(own)
            found.append((-abs(float(verdict) - mean), index, verdict, f"{mean:.3g}"))
    for _, index, verdict, label in sorted(found):
        yield Disagreement(transcript_id(labelled.run_id, index), verdict, label)


def _by_column(labelled: LabelledRun) -> Mapping[int, Sequence[int]]:
    by_column = defaultdict[int, list[int]](list)
    for index in labelled.weights:
        by_column[labelled.column(index)].append(index)
    return by_column


def _scenario_codes(labelled: LabelledRun) -> Mapping[int, Sequence[ScenarioCodes]]:
    codes = defaultdict[tuple[int, str], list[float]](list)
    for index, each in labelled.judged.items():
        if each.verdict is not None:
            codes[labelled.column(index), each.scenario_id].append(float(each.verdict))
    by_column = defaultdict[int, list[ScenarioCodes]](list)
    for (column, scenario), own in codes.items():
        by_column[column].append(ScenarioCodes(scenario, tuple(own)))
    return by_column
