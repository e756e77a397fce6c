"""Adding, importing and reading a definition's scenarios, on moto."""

from datetime import UTC, datetime

import pytest

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import catalog, scenarios
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenario_files import ImportFormat

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 7, 1, tzinfo=UTC)
RISK = {"name": "Risk Level", "levels": [{"score": 1, "label": "low"}]}


@pytest.fixture
def definition_id() -> str:
    content = {"template": "There is [risk level].", "dimensions": [RISK]}
    return catalog.create("ws", Labels("one"), content, NOW).head.id


def prompts(definition_id: str, limit: int = 100) -> list[str]:
    return [s.messages[0].content for s in scenarios.list_scenarios("ws", definition_id, limit=limit).items]


def test_adding_scenarios_returns_their_ids_in_order(definition_id: str) -> None:
    scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt="zero")], NOW)
    added = scenarios.add_scenarios(
        "ws", definition_id, [CreateScenario(prompt="one"), CreateScenario(prompt="two")], NOW
    )
    read = scenarios.list_scenarios("ws", definition_id, limit=10).items
    assert added == (tuple(scenario.id for scenario in read[1:]), 3, 2)
    assert [scenario.messages[0].content for scenario in read] == ["zero", "one", "two"]


def test_scenarios_are_read_page_by_page(definition_id: str) -> None:
    scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt=str(number)) for number in range(5)], NOW)
    first = scenarios.list_scenarios("ws", definition_id, limit=3)
    rest = scenarios.list_scenarios("ws", definition_id, limit=3, cursor=first.next_cursor)
    assert [s.messages[0].content for s in (*first.items, *rest.items)] == ["0", "1", "2", "3", "4"]
    assert rest.next_cursor is None


@pytest.mark.parametrize("cursor", ["nonsense", "YzE6eA"])
def test_a_bad_cursor_is_refused(definition_id: str, cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        scenarios.list_scenarios("ws", definition_id, limit=3, cursor=cursor)
    assert refused.value.errors[0].field == "cursor"


def test_a_cursor_past_the_end_finds_nothing(definition_id: str) -> None:
    scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt="one")], NOW)
    assert scenarios.list_scenarios("ws", definition_id, limit=3, cursor="YzE6OTk5").items == ()


def test_a_csv_file_is_imported_with_the_dimensions_of_the_definition(definition_id: str) -> None:
    scenarios.import_scenarios(
        "ws", definition_id, ImportFormat.CSV, "name,prompt,risk_level\nfirst,Hello,3\n,Bye,1.5\n", NOW
    )
    first, second = scenarios.list_scenarios("ws", definition_id, limit=10).items
    assert (first.name, first.dimensions, second.name, second.dimensions) == (
        "first", {"Risk Level": 3}, "Scenario 2", {"Risk Level": 1.5},
    )  # fmt: skip


def test_a_jsonl_file_is_imported(definition_id: str) -> None:
    text = '{"prompt": "Hello", "metadata": {"n": 1}}\n{"messages": [{"role": "user", "content": "Bye"}]}\n'
    added = scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, text, NOW)
    assert (len(added.ids), prompts(definition_id)) == (2, ["Hello", "Bye"])


def test_an_import_may_replace_all_others(definition_id: str) -> None:
    scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt="old")], NOW)
    added = scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, '{"prompt": "new"}', NOW, replace=True)
    assert (added.total, prompts(definition_id)) == (1, ["new"])


def test_one_bad_line_imports_nothing_and_each_is_named(definition_id: str) -> None:
    bad = ['{"prompt": ""}', '{"prompt": "x", "colour": 1}', "{}", '{"prompt": "x", "dimensions": {"r": "1"}}']
    text = "\n".join(['{"prompt": "fine"}', *bad])
    with pytest.raises(Invalid) as refused:
        scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, text, NOW)
    assert [error.field for error in refused.value.errors] == ["lines.2", "lines.3", "lines.4", "lines.5"]
    assert prompts(definition_id) == []


@pytest.mark.parametrize(
    "line",
    [
        '{"prompt": "\\ud800"}',
        '{"prompt": "x", "metadata": {"n": 123456789012345678901234567890}}',
        '{"prompt": "x", "metadata": {"n": NaN}}',
        '{"prompt": "x", "metadata": {"\\udfff": 1}}',
        '{"prompt": "x", "metadata": ' + '{"n":' * 50 + "1" + "}" * 51,
        '{"prompt": "x", "dimensions": {"r": Infinity}}',
        '{"prompt": "x", "n": ' + "1" * 5_000 + "}",
        '{"prompt": "x", "messages": [{"role": "user", "content": "x"}]}',
        '{"messages": []}',
        '{"messages": [{"role": "robot", "content": "x"}]}',
        '{"prompt": 7}',
    ],
)
def test_an_invalid_scenario_is_refused_on_its_line(definition_id: str, line: str) -> None:
    with pytest.raises(Invalid) as refused:
        scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, line, NOW)
    assert [error.field for error in refused.value.errors] == ["lines.1"]


def test_the_number_of_reported_errors_is_limited(definition_id: str) -> None:
    with pytest.raises(Invalid) as refused:
        scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, "nonsense\n" * 5_000, NOW)
    assert len(refused.value.errors) == scenarios.MAX_ERRORS


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_refused(definition_id: str, text: str) -> None:
    with pytest.raises(Invalid):
        scenarios.import_scenarios("ws", definition_id, ImportFormat.JSONL, text, NOW)


def test_another_workspace_neither_reads_nor_adds(definition_id: str) -> None:
    with pytest.raises(NotFound):
        scenarios.list_scenarios("other", definition_id, limit=1)
    with pytest.raises(NotFound):
        scenarios.add_scenarios("other", definition_id, [CreateScenario(prompt="x")], NOW)
    with pytest.raises(NotFound):
        scenarios.import_scenarios("other", definition_id, ImportFormat.JSONL, '{"prompt": "x"}', NOW)
