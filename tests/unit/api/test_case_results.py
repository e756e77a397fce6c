"""The results of a run by case, over HTTP: a row per case, a cell per target and prompt."""

from typing import Any

import pytest

from cupel_core.base.paging import encode_cursor, fill_page
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary, Transcript
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.selections import Selection
from cupel_core.runs.case_results import MAX_PROBES, list_cases
from cupel_core.store import selections
from cupel_core.store.selections import RUN_SCORING
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.large_runs import counted_requests, start_large_run
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Client

type Json = dict[str, Any]

SCENARIOS = tuple(Scenario("", name, (Message(MessageRole.USER, "?"),)) for name in ("one", "two", "three"))


def scored(index: int) -> Scoring:
    """The first model passes each time, the second in the first repeat only."""
    passed = index < 6 or index % 2 == 0
    return build_scoring(None, None, (AssertionResult("contains", passed, float(passed), ""),))


@pytest.fixture
def run(client: Client) -> Run:
    """Two models, three scenarios, two repeats; the first repeat of the last scenario of the second model errs."""
    answer = lambda index: None if index == 10 else "answer"  # noqa: E731
    return AnsweredRun(workspace="acme", scenarios=SCENARIOS, repeats=2, answer=answer, scoring=scored).start()


def rows(client: Client, run: Run, **query: Any) -> list[Json]:
    answer = client.get(f"/v1/runs/{run.id}/cases", query=query)
    assert answer.status == 200, answer.text
    items: list[Json] = answer.json()["items"]
    return items


def test_a_row_has_a_scenario_and_a_cell_per_target(client: Client, run: Run) -> None:
    listed = rows(client, run)
    assert [(row["index"], row["scenarioName"], row["personaName"]) for row in listed] == [
        (0, "one", None),
        (1, "two", None),
        (2, "three", None),
    ]
    assert [[cell["targetId"] for cell in row["cells"]] for row in listed] == [["sim/steady", "sim/bold"]] * 3


def test_a_cell_counts_its_repeats(client: Client, run: Run) -> None:
    steady, bold = rows(client, run)[0]["cells"]
    assert (steady["completed"], steady["judged"], steady["passed"], steady["meanScore"]) == (2, 2, 2, 1.0)
    assert (bold["completed"], bold["judged"], bold["passed"], bold["meanScore"]) == (2, 2, 1, 0.5)


def test_an_errored_repeat_is_neither_passed_nor_failed(client: Client, run: Run) -> None:
    cell = rows(client, run)[2]["cells"][1]
    assert (cell["completed"], cell["errors"], cell["judged"], cell["missing"]) == (1, {"timeout": 1}, 1, 0)


def test_rows_are_read_in_pages(client: Client, run: Run) -> None:
    page = client.get(f"/v1/runs/{run.id}/cases", query={"limit": 2}).json()
    assert [row["index"] for row in page["items"]] == [0, 1]
    assert [row["index"] for row in rows(client, run, cursor=page["nextCursor"])] == [2]


def test_one_target_is_one_cell(client: Client, run: Run) -> None:
    assert [[cell["targetId"] for cell in row["cells"]] for row in rows(client, run, model="sim/bold", limit=1)] == [
        ["sim/bold"]
    ]


def test_an_unknown_target_or_prompt_is_refused(client: Client, run: Run) -> None:
    for query, field in (({"model": "x/y"}, "model"), ({"promptId": "x"}, "promptId")):
        answer = client.get(f"/v1/runs/{run.id}/cases", query=query)
        assert (answer.status, answer.json()["errors"][0]["field"]) == (422, field)


def test_a_run_of_another_workspace_is_not_found(client: Client, run: Run, stranger: str) -> None:
    assert client.get(f"/v1/runs/{run.id}/cases", token=stranger).status == 404


def test_decisions_are_counted(client: Client) -> None:
    summary = Summary("4", "because", NOW)
    answered = AnsweredRun(workspace="acme", scenarios=SCENARIOS[:1], repeats=2, summary=summary).start()
    assert rows(client, answered)[0]["cells"][0]["decisions"] == {"4": 2}


def test_the_best_answer_is_marked(client: Client, run: Run) -> None:
    """In the second repeat of the second scenario, the second model's answer."""
    selections.record(ref_of(run), RUN_SCORING, 3, 0, Selection((3, 9), 1, 9, "longer"), None)
    assert [[cell["best"] for cell in row["cells"]] for row in rows(client, run)] == [[0, 0], [0, 1], [0, 0]]


def test_a_probe_without_an_outcome_is_missing(client: Client) -> None:
    going = start_large_run(5)
    entries = list_cases(going.workspace, going.id, model=None, prompt_id=None, limit=1, cursor=None)
    assert [row.cells[0].missing for row in fill_page(entries, 1).items] == [1]


@pytest.mark.parametrize("first", [0, 123_456])
def test_a_page_of_a_large_run_reads_only_the_digests_of_its_rows(cloud: Settings, first: int) -> None:
    """A million probes: the leaves, their pages without texts, and the selections of each row, whatever the row."""
    run = start_large_run(500_000, ("sim/steady", "sim/bold"))
    for index in (first, first + 500_000):
        state = ConversationState((Message(MessageRole.ASSISTANT, "x"),), 1)
        store_outcomes(run, 1, [Transcript(index, "scn", "sim/steady", NOW, state)])
    with counted_requests() as requests:
        entries = list_cases(
            run.workspace, run.id, model=None, prompt_id=None, limit=20, cursor=encode_cursor(str(first))
        )
        page = fill_page(entries, 20)
    assert [row.index for row in page.items] == [*range(first, first + 20)]
    assert [cell.completed for cell in page.items[0].cells] == [1, 1]
    assert sorted(requests)[:2] == ["BatchGetItem", "BatchGetItem"]
    assert len(requests) <= 6


def test_a_page_of_many_repeats_has_fewer_rows(cloud: Settings) -> None:
    run = AnsweredRun(scenarios=SCENARIOS * 10, repeats=50, models=("sim/steady", "sim/bold")).start()
    entries = list_cases(run.workspace, run.id, model=None, prompt_id=None, limit=100, cursor=None)
    page = fill_page(entries, 100)
    assert len(page.items) == MAX_PROBES // (2 * 50)
    assert page.next_cursor is not None
