"""The texts of the benchmarks have the size that evaluations have."""

import re

import pytest

from bench import texts
from bench.cases import CASES, MODELS, SCENARIOS, Case, run_specification


def test_prompts_have_500_to_600_characters_and_differ() -> None:
    prompts = list(texts.prompts(10_000))
    assert all(500 <= len(prompt) <= 600 for prompt in prompts)
    assert len(set(prompts)) == 10_000


def test_answers_have_300_to_500_characters_and_a_rating() -> None:
    answers = [texts.answer(digest) for digest in range(2_000)]
    assert all(300 <= len(answer) <= 500 for answer in answers)
    assert all(re.search(texts.DECISION["pattern"], answer) for answer in answers)
    assert len(set(answers)) == 1_000


@pytest.mark.parametrize("scenarios", [100, 500, 5_000, 10_000])
def test_the_matrix_of_a_definition_has_as_many_scenarios_as_asked_for(scenarios: int) -> None:
    left, right = (dimension["levels"] for dimension in texts.content(scenarios)["dimensions"])
    assert len(left) * len(right) == scenarios


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_sample_of_the_scenarios_has_the_probes_of_a_case(case: Case) -> None:
    specification = run_specification("def_1", case.probes)
    sampled = SCENARIOS * specification["samplePercentage"] // 100
    assert sampled * len(MODELS) * specification["repeats"] == case.probes
