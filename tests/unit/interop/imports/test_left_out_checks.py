"""An import counts the checks that it leaves out of each scenario, by type."""

from typing import Any

import pytest

from cupel.local_files import FolderFiles
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interop.imports.admission import request_fields
from cupel_core.interop.imports.promptfoo import read_config
from tests.unit.interop.imports.cases import config_path
from tests.unit.interop.imports.reading import scenarios


def left_out(*assertions: Any, **test: Any) -> dict[str, int]:
    config = {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "hi"}, "assert": list(assertions), **test}]}
    [scenario] = scenarios(config)
    return dict(scenario.left_out_checks)


def test_nothing_is_left_out_of_what_is_supported() -> None:
    assert left_out({"type": "contains", "value": "x"}) == {}


@pytest.mark.parametrize(
    ("assertion", "counted"),
    [
        ({"type": "javascript", "value": "true"}, {"javascript": 1}),
        ({"type": "not-python", "value": "True"}, {"not-python": 1}),
        ({"type": "is-sql"}, {"is-sql": 1}),
        ({"type": "contains", "value": "x", "weight": "2"}, {"contains": 1}),
        ({"type": "contains", "value": "file://none.txt"}, {"contains": 1}),
        ({"type": "contains", "value": "x", "transform": "fetch(output)"}, {"contains": 1}),
        ("contains: x", {"without a type": 1}),
        ({"type": "two\nlines"}, {"two lines": 1}),
        ({"type": "assert-set", "assert": [{"type": "contains", "value": "x"}, {"type": "ruby"}]}, {"ruby": 1}),
    ],
)
def test_an_unsupported_check_is_counted_by_its_type(assertion: Any, counted: dict[str, int]) -> None:
    assert left_out({"type": "icontains", "value": "x"}, assertion) == counted


def test_equal_types_are_added() -> None:
    code = {"type": "javascript", "value": "true"}
    assert left_out(code, code, {"type": "is-sql"}) == {"javascript": 2, "is-sql": 1}


def test_default_checks_are_counted_in_each_scenario() -> None:
    config = {
        "prompts": ["{{q}}"],
        "defaultTest": {"assert": [{"type": "moderation"}]},
        "tests": [{"vars": {"q": ["a", "b"]}}, {"vars": {"q": "c"}, "options": {"disableDefaultAsserts": True}}],
    }
    assert [dict(each.left_out_checks) for each in scenarios(config)] == [{"moderation": 1}, {"moderation": 1}, {}]


def test_a_scoring_function_is_a_check() -> None:
    assert left_out({"type": "contains", "value": "x"}, assertScoringFunction="file://s.py") == {
        "assertScoringFunction": 1
    }


def test_code_that_is_kept_is_not_left_out() -> None:
    path = config_path("partly_imported")
    found = [
        dict(scenario.left_out_checks)
        for code_folder in (None, "")
        for draft in read_config(path.read_text(), FolderFiles(path.parent), code_folder).drafts
        for scenario in draft.scenarios
    ]
    without_context = {"is-sql": 1, "context-recall": 1}
    assert found == [{"javascript": 1, **without_context}, without_context]


def test_turns_of_a_conversation_are_counted_together() -> None:
    test = {"metadata": {"conversationId": "c"}, "assert": [{"type": "is-sql"}, {"type": "latency", "threshold": 5}]}
    prompt = "{% for each in _conversation %}{{ each.output }}{% endfor %}{{q}}"
    config = {"prompts": [prompt], "tests": [{**test, "vars": {"q": "a"}}, {**test, "vars": {"q": "b"}}]}
    [scenario] = scenarios(config)
    assert dict(scenario.left_out_checks)["is-sql"] == 2


def test_the_counts_are_stored_and_can_be_written() -> None:
    scenario = Scenario("s", "a", (), metadata={"vars": {"q": "a"}}, left_out_checks={"is-sql": 2})
    assert Scenario.from_json(scenario.to_json()) == scenario
    assert CreateScenario.model_validate(request_fields(scenario)).to_scenario().left_out_checks == {"is-sql": 2}
