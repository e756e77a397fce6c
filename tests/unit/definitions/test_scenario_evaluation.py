"""What a scenario says about its evaluation: a simulated user, criteria, assertions, personas."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from cupel_core.base.errors import Invalid
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.domain.conversations.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenario_files import ImportFormat
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.store import resources
from cupel_core.store.resources import Resource, ResourceKind

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CONTAINS = {"type": "contains", "value": "refund"}


@pytest.fixture
def definition_id() -> str:
    return catalog.create("ws", Labels("one"), {"system": "Be brief."}, NOW).head.id


def a_persona(name: str = "Ada") -> str:
    resources.create("ws", Resource(ResourceKind.PERSONA, f"per_{name}", name, {}, NOW, NOW))
    return f"per_{name}"


def items(*given: dict[str, Any]) -> Sequence[CreateScenario]:
    return [CreateScenario.model_validate(each) for each in given]


def added(definition_id: str, item: dict[str, Any]) -> Scenario:
    scenarios.add_scenarios("ws", definition_id, items(item), NOW)
    return scenarios.list_scenarios("ws", definition_id, limit=1).items[0]


def wrong(definition_id: str, *given: dict[str, Any]) -> list[str]:
    with pytest.raises(Invalid) as refused:
        scenarios.add_scenarios("ws", definition_id, items(*given), NOW)
    return [error.field for error in refused.value.errors]


def test_a_scenario_is_read_as_it_was_added(definition_id: str) -> None:
    persona_id = a_persona()
    item = {
        "messages": [{"role": "user", "content": "Hi"}],
        "instructions": "You want your money back.",
        "followUps": ["And then, [answer 1]?"],
        "separateTurns": True,
        "maxMessages": 8,
        "successCriteria": "the refund is promised",
        "failureCriteria": "the agent gets rude",
        "failureCriteriaMode": "every_turn",
        "assertions": [CONTAINS],
        "personaIds": [persona_id],
    }
    scenario = added(definition_id, item)
    assert scenario.criteria == Criteria(
        "the refund is promised", "the agent gets rude", FailureCriteriaMode.EVERY_TURN
    )
    assert (scenario.instructions, scenario.max_messages) == ("You want your money back.", 8)
    assert (scenario.follow_ups, scenario.separate_turns) == (("And then, [answer 1]?",), True)
    assert scenario.assertions == (Assertion("contains", value="refund"),)
    assert scenario.persona_ids == (persona_id,)


def test_a_simulated_user_may_begin(definition_id: str) -> None:
    assert added(definition_id, {"instructions": "You want your money back."}).messages == ()


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"name": "x"},
        {"prompt": "a", "messages": [{"role": "user", "content": "b"}]},
        {"prompt": "a", "maxMessages": 0},
        {"prompt": "a", "maxMessages": 201},
        {"prompt": "a", "followUps": [""]},
        {"prompt": "a", "followUps": ["[answer 2]"], "separateTurns": True},
        {"prompt": "a", "separateTurns": "yes"},
        {"prompt": "a", "failureCriteriaMode": "sometimes"},
        {"prompt": "a", "successCriteria": "  "},
        {"prompt": "a", "personaIds": ["per_a", "per_a"]},
        {"prompt": "a", "personaIds": [f"per_{number}" for number in range(101)]},
        {"prompt": "a", "max_messages": 3},
    ],
)
def test_an_invalid_item_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CreateScenario.model_validate(item)


def test_each_invalid_assertion_is_named(definition_id: str) -> None:
    assert wrong(
        definition_id,
        {"prompt": "a", "assertions": [CONTAINS, {"type": "containz", "value": "x"}]},
        {"prompt": "b", "assertions": [{"type": "contains", "value": "x", "weight": -1}]},
        {"prompt": "c", "assertions": [{"type": "llm-rubric", "value": "x", "provider": "nobody/y"}]},
    ) == ["items.0.assertions.1.type", "items.1.assertions.0.weight", "items.2.assertions.0.provider"]


def test_a_simulated_judge_that_does_not_exist_is_named(definition_id: str) -> None:
    """`similar` calls no judge: every simulated model makes vectors."""
    judged = {"type": "not-llm-rubric", "value": "x", "provider": "sim/stedy"}
    compared = {"type": "similar", "value": "x", "provider": "sim/words"}
    assert wrong(definition_id, {"prompt": "a", "assertions": [compared, judged]}) == ["items.0.assertions.1.provider"]


def test_an_unknown_provider_is_named_within_a_set(definition_id: str) -> None:
    part = {"type": "llm-rubric", "value": "x", "provider": "connector/con_1"}
    item = {"prompt": "a", "assertions": [{"type": "assert-set", "assert": [CONTAINS, part]}]}
    assert wrong(definition_id, item) == ["items.0.assertions.0.assert.1.provider"]


def test_each_scenario_with_an_unknown_persona_is_named(definition_id: str) -> None:
    persona_id = a_persona()
    given = ({"prompt": "a", "personaIds": [persona_id]}, {"prompt": "b", "personaIds": [persona_id, "per_nobody"]})
    assert wrong(definition_id, *given) == ["items.1.personaIds"]


def test_nothing_is_added_if_one_of_several_is_invalid(definition_id: str) -> None:
    wrong(definition_id, {"prompt": "a"}, {"prompt": "b", "personaIds": ["per_nobody"]})
    assert scenarios.list_scenarios("ws", definition_id, limit=1).items == ()


def test_the_columns_of_a_csv_file_are_the_fields_of_an_item(definition_id: str) -> None:
    header = "instructions,maxMessages,successCriteria,failureCriteria,failureCriteriaMode,personaIds,assertions"
    quoted = json.dumps([CONTAINS]).replace('"', '""')
    row = f'Ask for it,6,promised,rude,every_turn,"{a_persona()}, {a_persona("Bob")}","{quoted}"'
    scenarios.import_scenarios("ws", definition_id, ImportFormat.CSV, f"{header}\n{row}\n", NOW)
    (scenario,) = scenarios.list_scenarios("ws", definition_id, limit=1).items
    assert scenario.criteria == Criteria("promised", "rude", FailureCriteriaMode.EVERY_TURN)
    assert (scenario.instructions, scenario.max_messages) == ("Ask for it", 6)
    assert (scenario.persona_ids, scenario.assertions) == (("per_Ada", "per_Bob"), (Assertion.from_json(CONTAINS),))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"prompt": "a", "assertions": [{"type": "containz"}]}, "assertions.0.type"),
        ({"prompt": "a", "personaIds": ["per_nobody"]}, "there is no persona per_nobody"),
        ({"prompt": "a", "maxMessages": "many"}, "maxMessages"),
    ],
)
def test_an_invalid_line_is_named_with_its_problem(definition_id: str, line: dict[str, Any], told: str) -> None:
    text = json.dumps({"prompt": "fine"}) + "\n" + json.dumps(line)
    with pytest.raises(Invalid, match=told) as refused:
        scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, text, NOW)
    assert [error.field for error in refused.value.errors] == ["lines.2"]


def test_a_definition_has_assertions_for_all_its_scenarios() -> None:
    made = catalog.create("ws", Labels("one"), {"assertions": [CONTAINS]}, NOW)
    assert catalog.get("ws", made.head.id).content.assertions == (Assertion("contains", value="refund"),)


def test_an_invalid_assertion_of_a_definition_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        catalog.create("ws", Labels("one"), {"system": "x", "assertions": [CONTAINS, {"value": 1}]}, NOW)
    assert [error.field for error in refused.value.errors] == ["content.assertions.1.type"]


@pytest.mark.parametrize(("overrides", "kept"), [({"system": "y"}, 1), ({"assertions": None}, 0)])
def test_a_fork_inherits_the_assertions_or_overrides_them(overrides: dict[str, Any], kept: int) -> None:
    parent = catalog.create("ws", Labels("one"), {"system": "x", "assertions": [CONTAINS]}, NOW)
    assert len(forks.fork("ws", parent.head.id, Labels(), overrides, NOW).content.assertions) == kept


def test_a_connector_cannot_be_a_judge() -> None:
    decision = {"rubric": "x", "judgeModel": "connector/con_1"}
    with pytest.raises(Invalid, match="judgeModel"):
        catalog.create("ws", Labels("one"), {"system": "x", "decision": decision}, NOW)
