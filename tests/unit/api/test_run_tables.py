"""What tables of large runs are drawn from: columns of probes, excerpts, matches and names of cases, over HTTP."""

from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.case_texts import MAX_CHARACTERS
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.probe_columns import MAX_NAMES, PROBES_PER_BLOCK, build_columns
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.runs.transcripts import Summary, TranscriptResult
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.runs import probe_search
from cupel_core.store import outcomes
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.large_runs import counted_requests, start_large_run
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Answer, Client

type Json = dict[str, Any]

SYSTEM = Message(MessageRole.SYSTEM, "Secretly.")
SCENARIOS = tuple(
    Scenario(
        "", name, (Message(MessageRole.SYSTEM, "Secretly."), Message(MessageRole.USER, f"{name}?")), dimensions=scores
    )
    for name, scores in (("one", {"age": 1.0}), ("two", {"age": 2.0}), ("three", {}))
)


def scored(index: int) -> Scoring:
    """The second model fails one of two checks, in the first repeat of each scenario."""
    passed = index < 6 or index % 2 == 1
    results = (
        AssertionResult("contains", True, 1.0, ""),
        AssertionResult("llm-rubric", passed, float(passed), "no sum"),
    )
    return build_scoring(None, None, results)


def described(**changes: Any) -> AnsweredRun:
    """Two models, three scenarios, two repeats; the last probe of the second model's last scenario errs."""
    given: Json = {
        "workspace": "acme",
        "scenarios": SCENARIOS,
        "repeats": 2,
        "answer": lambda index: None if index == 11 else f"Answer number {index}: ÄPFEL " + "and so on " * 60,
        "scoring": scored,
        "summary": Summary("2", "leans towards no", NOW),
    }
    return AnsweredRun(**{**given, **changes})


@pytest.fixture
def run(client: Client) -> Run:
    return described().completed()


def get(client: Client, run: Run, what: str, **options: Any) -> Answer:
    query = {key: value for key, value in options.items() if key not in ("headers", "token")}
    sent = {key: value for key, value in options.items() if key in ("headers", "token")}
    return client.get(f"/v1/runs/{run.id}/{what}", query=query, **sent)


def read(client: Client, run: Run, what: str, **query: Any) -> Json:
    answer = get(client, run, what, **query)
    assert answer.status == 200, answer.text
    body: Json = answer.json()
    return body


def test_columns_say_where_each_probe_is_and_what_came_of_it(client: Client, run: Run) -> None:
    columns = read(client, run, "probe-columns", block=0)
    assert (columns["firstIndex"], columns["isFinal"]) == (0, True)
    assert columns["column"] == [0] * 6 + [1] * 6
    assert columns["case"] == [0, 0, 1, 1, 2, 2] * 2
    assert columns["repeat"] == [0, 1] * 6
    assert columns["completed"] == [True] * 11 + [False]
    assert columns["success"] == [*[True] * 6, False, True, False, True, False, None]
    assert columns["score"][5:8] == [1.0, 0.5, 1.0]
    assert columns["decision"] == [*["2"] * 11, None]
    assert columns["errorCode"] == [*[None] * 11, "timeout"]
    assert columns["checkNames"] == ["contains", "llm-rubric"]
    assert columns["failedChecks"] == [*[[]] * 6, [1], [], [1], [], [1], []]
    assert columns["passedChecks"] == [*[[0, 1]] * 6, [0], [0, 1], [0], [0, 1], [0], []]
    assert (columns["durationMs"][0], columns["durationMs"][11]) == (12, None)
    assert (columns["inputTokens"][0], columns["outputTokens"][0], columns["turns"][0]) == (3, 4, 1)


def test_columns_of_a_run_that_has_ended_are_not_read_again(client: Client, run: Run) -> None:
    first = get(client, run, "probe-columns", block=0)
    assert first.headers["Cache-Control"] == "private, no-cache"
    with counted_requests() as requests:
        again = get(client, run, "probe-columns", block=0, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.text, again.headers["ETag"]) == (304, "", first.headers["ETag"])
    assert "BatchGetItem" not in requests


def test_a_correction_changes_the_columns_and_their_tag(client: Client, run: Run) -> None:
    first = get(client, run, "probe-columns", block=0)
    outcomes.set_correction(ref_of(run), 6, TranscriptResult(True, 1.0))
    again = get(client, run, "probe-columns", block=0, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.json()["success"][6]) == (200, True)


def test_columns_of_a_run_that_goes_on_have_the_tag_of_their_content(client: Client) -> None:
    going = described().start()
    first = get(client, going, "probe-columns", block=0)
    assert first.json()["isFinal"] is False
    headers = {"If-None-Match": first.headers["ETag"]}
    assert get(client, going, "probe-columns", block=0, headers=headers).status == 304
    outcomes.set_correction(ref_of(going), 6, TranscriptResult(True, 1.0))
    assert get(client, going, "probe-columns", block=0, headers=headers).status == 200


def test_columns_are_compressed(client: Client) -> None:
    run = described(scenarios=SCENARIOS * 10, repeats=10).completed()
    answer = get(client, run, "probe-columns", block=0, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.sent_length < len(answer.text) / 10


def test_a_probe_without_an_outcome_has_nothing_but_its_place(cloud: Settings, client: Client) -> None:
    going = start_large_run(2_500)
    columns = client.get(f"/v1/runs/{going.id}/probe-columns", query={"block": 2}, token=client.issue("ws_a")).json()
    assert (columns["firstIndex"], columns["case"]) == (2_000, list(range(2_000, 2_500)))
    for name in ("completed", "success", "score", "decision", "durationMs", "costUsd", "errorCode"):
        assert columns[name] == [None] * 500


@pytest.mark.parametrize(
    ("what", "query", "field"),
    [
        ("probe-columns", {"block": 1}, "block"),
        ("probe-columns", {"block": -1}, "block"),
        ("probe-columns", {"block": 1_000}, "block"),
        ("probe-columns", {}, "block"),
        ("probe-excerpts", {"indexes": "12"}, "indexes"),
        ("probe-excerpts", {"indexes": "-1"}, "indexes"),
        ("probe-excerpts", {"indexes": ",".join(map(str, range(101)))}, "indexes"),
        ("probe-excerpts", {}, "indexes"),
        ("probe-matches", {"q": " "}, "q"),
        ("probe-matches", {"q": "a b c d e f g h i j k"}, "q"),
        ("probe-matches", {"q": "x" * 201}, "q"),
        ("case-names", {"first": 3}, "first"),
        ("case-texts", {"first": 3}, "first"),
        ("case-texts", {"limit": 1_001}, "limit"),
        ("probe-excerpts", {"indexes": "0", "characters": 8_001}, "characters"),
    ],
)
def test_what_the_run_does_not_have_is_refused(client: Client, run: Run, what: str, query: Json, field: str) -> None:
    answer = get(client, run, what, **query)
    assert (answer.status, answer.json()["errors"][0]["field"].partition(".")[0]) == (422, field)


@pytest.mark.parametrize(
    ("what", "query"),
    [
        ("probe-columns", {"block": 0}),
        ("probe-excerpts", {"indexes": "0"}),
        ("probe-matches", {"q": "answer"}),
        ("case-names", {}),
        ("case-texts", {}),
    ],
)
def test_a_run_of_another_workspace_is_not_found(
    client: Client, run: Run, stranger: str, what: str, query: Json
) -> None:
    tag = get(client, run, what, **query).headers.get("ETag", "")
    assert get(client, run, what, token=stranger, headers={"If-None-Match": tag}, **query).status == 404
    assert client.get(f"/v1/runs/run_none/{what}", query=query).status == 404


def test_an_excerpt_has_the_beginning_of_the_answer_and_the_reason(client: Client, run: Run) -> None:
    first, errored = read(client, run, "probe-excerpts", indexes="11,6,6")["items"]
    assert (first["index"], errored["index"]) == (6, 11)
    assert first["answer"].startswith("Answer number 6: ÄPFEL and so on")
    assert (len(first["answer"]), first["answer"][-1]) == (280, "…")
    assert (first["reason"], first["contentAvailable"]) == ("llm-rubric: no sum", True)
    assert errored == {"index": 11, "answer": None, "reason": "no answer", "contentAvailable": False}


def test_expired_content_is_neither_excerpted_nor_found(client: Client) -> None:
    expired = described(expires_at=utc_now() - timedelta(seconds=1)).completed()
    (excerpt,) = read(client, expired, "probe-excerpts", indexes="0")["items"]
    assert (excerpt["answer"], excerpt["reason"], excerpt["contentAvailable"]) == (None, None, False)
    assert read(client, expired, "probe-matches", q="number")["indexes"] == []


def test_deleted_content_is_neither_excerpted_nor_found(client: Client, run: Run) -> None:
    assert client.delete(f"/v1/probes/{run.id}-4/content").status == 204
    (excerpt,) = read(client, run, "probe-excerpts", indexes="4")["items"]
    assert (excerpt["answer"], excerpt["reason"], excerpt["contentAvailable"]) == (None, None, False)
    assert 4 not in read(client, run, "probe-matches", q="number")["indexes"]


@pytest.mark.parametrize(
    ("q", "indexes"),
    [
        ("äpfel NUMBER", [*range(11)]),
        ("two?", [2, 3, 8, 9]),
        ("number 3: two", [3]),
        ("secretly", []),
        ("nothing of the kind", []),
    ],
)
def test_words_are_found_in_what_was_said(client: Client, run: Run, q: str, indexes: list[int]) -> None:
    assert read(client, run, "probe-matches", q=q) == {"indexes": indexes, "nextIndex": None}


def test_a_search_goes_on_where_it_had_no_time(client: Client, run: Run) -> None:
    left = iter([True] * 4 + [False])
    part = probe_search.find_matches("acme", run.id, 0, "number", utc_now(), lambda: next(left))
    assert (part.indexes, part.next_index) == ([0, 1, 2, 3, 4], 5)
    assert read(client, run, "probe-matches", q="number", first=5)["indexes"] == [*range(5, 11)]


def test_a_search_without_time_examines_one_conversation(client: Client, run: Run) -> None:
    part = probe_search.find_matches("acme", run.id, 3, "number", utc_now(), lambda: False)
    assert (part.indexes, part.next_index) == ([3], 4)


def test_a_search_of_a_large_run_goes_on_by_blocks(cloud: Settings) -> None:
    going = start_large_run(2_500)
    found = probe_search.find_matches(going.workspace, going.id, 1_000, "x", utc_now(), lambda: True)
    assert (found.indexes, found.next_index) == ([], 1_000 + PROBES_PER_BLOCK)


def test_cases_have_their_names_and_dimensions(client: Client, run: Run) -> None:
    listed = read(client, run, "case-names", first=1)
    assert [(each["index"], each["scenarioName"], each["dimensions"]) for each in listed["items"]] == [
        (1, "two", {"age": 2.0}),
        (2, "three", {}),
    ]
    assert listed["nextIndex"] is None


@pytest.mark.parametrize("what", ["case-names", "case-texts"])
def test_cases_are_read_once(client: Client, run: Run, what: str) -> None:
    tag = get(client, run, what).headers["ETag"]
    assert get(client, run, what, headers={"If-None-Match": tag}).status == 304
    assert get(client, run, what, first=1, headers={"If-None-Match": tag}).status == 200


def test_cases_are_read_by_thousands_also_without_the_snapshot_of_the_run(cloud: Settings, client: Client) -> None:
    going = start_large_run(2_500)
    token = client.issue("ws_a")
    numbers, first = list[int](), 0
    while first is not None:
        answer = client.get(f"/v1/runs/{going.id}/case-names", query={"first": first}, token=token).json()
        numbers += [each["index"] for each in answer["items"]]
        first = answer["nextIndex"]
        assert {each["scenarioName"] for each in answer["items"]} == {None}
    assert numbers == list(range(2_500))


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    plan = Plan(plain_targets("sim/steady"), (3,))
    found = [
        CountedOutcome(0, True, costs=[CountedCost("target", 1, 0.1), CountedCost("judge", 1, 0.2)]),
        CountedOutcome(1, True, costs=[CountedCost("target", 1, 0.1), CountedCost("judge", 1, None)]),
        CountedOutcome(2, is_completed=False, error_code="timeout"),
    ]
    assert build_columns(plan, range(3), found).cost_usd == [0.3, None, 0]


def test_names_of_a_block_are_bounded() -> None:
    plan = Plan(plain_targets("sim/steady"), (1_000,))
    found = [
        CountedOutcome(index, True, tags=[f"tag {index}"], checks={f"check {index}": False}) for index in range(1_000)
    ]
    columns = build_columns(plan, range(1_000), found)
    assert (len(columns.tag_names), len(columns.check_names)) == (MAX_NAMES, MAX_NAMES)
    assert columns.tags[MAX_NAMES - 1 : MAX_NAMES + 1] == [[MAX_NAMES - 1], []]


def test_cases_have_their_input_expectation_and_variables(client: Client) -> None:
    asked = (Message(MessageRole.SYSTEM, "Secretly."), Message(MessageRole.USER, "Can I return a kettle?"))
    by_hand = {"tier": "gold", "limits": {"days": 30}}
    scenarios = (
        Scenario(
            "", "reference", asked, assertions=(Assertion("icontains", value="30"), Assertion("equals", value="Yes."))
        ),
        Scenario("", "checks", asked, assertions=(Assertion("icontains", value="30"), Assertion("is-json"))),
        Scenario("", "goal", (), instructions="Get a refund.", criteria=Criteria("is refunded")),
        Scenario(
            "", "long", (Message(MessageRole.USER, "Ä" * 500),), {"age": 2.0}, {"vars": by_hand, "owner": "Ada" * 99}
        ),
    )
    run = described(scenarios=scenarios, repeats=1).completed()
    listed = read(client, run, "case-texts", first=0, limit=3)
    assert [(each["index"], each["input"], each["expected"]) for each in listed["items"]] == [
        (0, "Can I return a kettle?", "Yes."),
        (1, "Can I return a kettle?", "icontains: 30; is-json"),
        (2, "Get a refund.", "is refunded"),
    ]
    (last,) = read(client, run, "case-texts", first=listed["nextIndex"])["items"]
    assert last["input"] == "Ä" * (MAX_CHARACTERS - 1) + "…"
    assert last["expected"] is None
    assert last["values"] == {"tier": "gold", "limits": '{"days": 30}', "age": "2.0", "owner": ("Ada" * 99)[:119] + "…"}


def test_texts_of_cases_are_missing_without_the_snapshot_of_the_run(cloud: Settings, client: Client) -> None:
    going = start_large_run(2_500)
    answer = client.get(f"/v1/runs/{going.id}/case-texts", query={"first": 2_499}, token=client.issue("ws_a")).json()
    assert answer == {"items": [{"index": 2_499, "input": None, "expected": None, "values": {}}], "nextIndex": None}


def test_excerpts_are_as_long_as_requested(client: Client, run: Run) -> None:
    (short,) = read(client, run, "probe-excerpts", indexes="4", characters=12)["items"]
    assert short["answer"] == "Answer numb…"
    (whole,) = read(client, run, "probe-excerpts", indexes="4", characters=8_000)["items"]
    assert whole["answer"].endswith("and so on ")
