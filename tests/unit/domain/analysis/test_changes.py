"""What changed between two runs, and whether one change alone can explain a difference."""

from dataclasses import replace
from typing import Any

import pytest

from cupel_core.domain.analysis.changes import MAX_DIFF_LENGTH, RunDescription, what_changed

RUN = RunDescription(
    definition_id="def_a",
    definition_version=1,
    definition_name="Refunds",
    content={"system": "Be brief.", "template": "Refund [item]?", "dimensions": [{"name": "price"}]},
    targets={"steady": "sim/steady", "bold": "sim/bold"},
    params={"steady": {"temperature": 0}, "bold": {}},
    config={"judgeModel": "openai/gpt-5"},
    repeats=1,
    sample_percentage=100,
    sample_seed=1,
    scenario_count=12,
    scenario_total=12,
    rescore_id=None,
    model_versions={"steady": {"steady-1": 12}, "bold": {"bold-1": 12}},
)


def content(**changed: Any) -> RunDescription:
    return replace(RUN, content={**RUN.content, **changed})


def test_nothing_changed() -> None:
    found = what_changed(RUN, RUN)
    assert (found.changes, found.diff, found.causes, found.is_confounded) == ((), "", (), False)


@pytest.mark.parametrize(
    ("after", "summary", "causes"),
    [
        (content(system="Be kind."), "The texts that targets are sent differ.", ("prompt",)),
        (content(dimensions=[]), "The dimensions or their levels differ.", ("dimensions",)),
        (content(decision={"pattern": "x"}), "The rule that reads decisions differs.", ("decision",)),
        (content(assertions=[{"type": "equals"}]), "The assertions differ.", ("assertions",)),
        (replace(RUN, config={}), "Judge: openai/gpt-5 → none.", ("judgeModel",)),
        (replace(RUN, rescore_id="rsc_1"), "Scoring: none → rsc_1.", ("rescore",)),
        (replace(RUN, params={"steady": {}, "bold": {}}), "Parameters of steady differ.", ("params",)),
        (replace(RUN, definition_version=2), "Definition: Refunds v1 → Refunds v2.", ()),
        (replace(RUN, repeats=3), "Repeats: 1 → 3.", ()),
        (replace(RUN, scenario_count=3, sample_seed=7), "Scenarios: all 12 → 3 of 12 (seed 7).", ()),
    ],
)
def test_a_change_is_a_sentence_and_what_it_can_explain(
    after: RunDescription, summary: str, causes: tuple[str, ...]
) -> None:
    found = what_changed(RUN, after)
    assert ([change.summary for change in found.changes], found.causes, found.is_confounded) == (
        [summary],
        causes,
        False,
    )


def test_several_changes_that_could_explain_a_difference_confound_it() -> None:
    found = what_changed(RUN, replace(content(system="Be kind."), config={"judgeModel": "openai/gpt-5-mini"}))
    assert (found.causes, found.is_confounded) == (("prompt", "judgeModel"), True)


def test_new_versions_of_several_models_are_one_change() -> None:
    """Each target has one of them."""
    found = what_changed(RUN, replace(RUN, model_versions={"steady": {"steady-2": 12}, "bold": {"bold-2": 12}}))
    assert [change.summary for change in found.changes] == [
        "Model versions of steady: steady-1 → steady-2.",
        "Model versions of bold: bold-1 → bold-2.",
    ]
    assert (found.causes, found.is_confounded) == (("modelVersions",), False)


def test_the_diff_shows_the_changed_lines_and_is_bounded() -> None:
    diff = what_changed(RUN, content(system="Be kind.")).diff
    assert "-Be brief." in diff
    assert "+Be kind." in diff
    assert len(what_changed(RUN, content(system="long\n" * MAX_DIFF_LENGTH)).diff) == MAX_DIFF_LENGTH
