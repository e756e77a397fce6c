"""The scale of a rubric is that of its author's prompt, if the prompt or the configuration states one."""

from typing import Any

import pytest

from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.scoring.rubric_grading import stated_scale


@pytest.mark.parametrize(
    ("prompt", "scale"),
    [
        ("Give a score from 0 to 10. {{output}}", (0, 10)),
        ("Score: 1-5. {{output}}", (1, 5)),
        ("Rate {{output}} on a scale of 1 to 5, in 2-3 sentences.", (1, 5)),
        ("Grade {{output}} between 0 and 100.", (0, 100)),
        ("{{output}} How many points out of 20?", (0, 20)),
        ('Answer {"score": 0.0-1.0} about {{output}}', (0, 1)),
        ("Rate the 10-12 answers in {{output}} (0-10 scale)", None),
        ("A score from 1 to 5 for style, and a score from 0 to 10 for facts: {{output}}", None),
        ("Is {{output}} good? Write 1-2 sentences and a score.", None),
        ("Is {{output}} good? It is from 2019 to 2024.", None),
        ("Give a score from 10 to 1. {{output}}", None),
        ("Give a score. {{output}}", None),
    ],
)
def test_a_scale_is_read_if_a_prompt_states_one(prompt: str, scale: Any) -> None:
    assert stated_scale({"rubricPrompt": prompt}) == scale
    assert stated_scale({"rubricPrompt": [{"role": "user", "content": prompt}]}) == scale


def test_the_configuration_takes_precedence() -> None:
    assert stated_scale({"rubricPrompt": "Give a score from 0 to 10. {{output}}", "range": [1, 4]}) == (1, 4)


@pytest.mark.parametrize("scale", [None, [1], [2, 1], [1, 1], ["0", "1"], [0, True], "0-1"])
def test_an_invalid_range_is_refused(scale: Any) -> None:
    written = {"type": "llm-rubric", "config": {"rubricPrompt": "{{output}}", "range": scale}}
    assert [issue.field for issue in assertion_issues([written])] == ["assertions.0.config.range"]


def test_a_threshold_is_on_the_scale_of_the_author_s_prompt() -> None:
    own = {"type": "llm-rubric", "threshold": 7, "config": {"rubricPrompt": "{{output}}"}}
    assert assertion_issues([own]) == ()
    assert [issue.field for issue in assertion_issues([{**own, "value": "a", "config": {}}])] == [
        "assertions.0.threshold"
    ]
