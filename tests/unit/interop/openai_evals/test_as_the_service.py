"""Requests and responses are those of OpenAI's service, also where its newest client's types are not."""

import json
from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.providers import simulation
from tests.openai_client import openai_client
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals import service
from tests.unit.interop.openai_evals.flows import CONFIG, EXACT, ITEMS, carry_out, completions, create_eval, jsonl

pytestmark = pytest.mark.usefixtures("finish_starts")

EVALS = "/openai/v1/evals"


@pytest.fixture
def lenient(client: Client) -> OpenAI:
    """OpenAI's client with its own defaults: it takes whatever the server sends."""
    return openai_client(client, is_strict=False)


def create(client: Client, **changes: Any) -> Any:
    return client.post(EVALS, {"data_source_config": CONFIG, "testing_criteria": [EXACT], **changes})


def start(client: Client, eval_id: str, **changes: Any) -> Any:
    return client.post(f"{EVALS}/{eval_id}/runs", {"data_source": completions(), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "eval_1", "object": "eval", "created_at": 1739314509, "updated_at": None},
        {"testing_criteria": [{**EXACT, "id": "exact-2eaf2d8d-d649-4335-8148-9535a7ca73c2"}]},
        {"testing_criteria": [service.LABEL_MODEL, service.SCORE_MODEL, service.TEXT_SIMILARITY]},
        {"data_source_config": service.LOGS},
        {"share_with_openai": None},
    ],
)
def test_what_the_service_returns_is_accepted_and_nothing_is_lost(client: Client, changes: dict[str, Any]) -> None:
    created = create(client, **changes)
    assert created.status == 201, created.text
    assert "ignored_parameters" not in created.json()
    assert "id" not in created.json()["testing_criteria"][0]


@pytest.mark.parametrize(
    ("changes", "ignored"),
    [
        ({"share_with_openai": False}, ["share_with_openai"]),
        (
            {"testing_criteria": [EXACT, {**service.LABEL_MODEL, "sampling_params": {"seed": 1}}]},
            ["testing_criteria[1].sampling_params"],
        ),
    ],
)
def test_an_eval_names_what_has_no_effect(client: Client, changes: dict[str, Any], ignored: list[str]) -> None:
    assert create(client, **changes).json()["ignored_parameters"] == ignored


def test_a_run_names_what_has_no_effect(client: Client) -> None:
    eval_id = create(client).json()["id"]
    text = {"format": {"type": "text"}, "verbosity": "low"}
    data = {**completions(), "type": "responses", "sampling_params": {"text": text, "temperature": 0.5}}
    run = start(client, eval_id, data_source=data).json()
    assert run["ignored_parameters"] == ["data_source.sampling_params.text.verbosity"]
    assert run["data_source"]["sampling_params"] == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"colour": "red"}, "colour"),
        ({"testing_criteria": [{**EXACT, "colour": "red"}]}, "testing_criteria[0].colour"),
        (
            {
                "testing_criteria": [
                    {**service.LABEL_MODEL, "input": [{"role": "user", "content": "a", "tool_calls": []}]}
                ]
            },
            "testing_criteria[0].input[0].tool_calls",
        ),
    ],
)
def test_other_fields_are_refused(client: Client, changes: dict[str, Any], param: str) -> None:
    refused = create(client, **changes)
    assert (refused.status, refused.json()["error"]["param"]) == (400, param)


def test_a_filter_that_would_be_ignored_is_refused(client: Client) -> None:
    eval_id = create(client, data_source_config={"type": "logs"}).json()["id"]
    source = {"type": "responses", "users": ["ann"], "tools": None}
    refused = start(client, eval_id, data_source={"type": "responses", "source": source})
    assert (refused.status, refused.json()["error"]["param"]) == (400, "data_source.source.users")


def test_older_clients_cancel_a_run_at_its_own_address(client: Client) -> None:
    eval_id = create(client).json()["id"]
    run = start(client, eval_id).json()
    cancelled = client.post(f"{EVALS}/{eval_id}/runs/{run['id']}", None)
    assert (cancelled.status, cancelled.json()["status"]) == (200, "canceled")


def test_a_completed_run_and_its_items_have_no_error(client: Client, lenient: OpenAI) -> None:
    eval_id = create(client).json()["id"]
    run_id = start(client, eval_id).json()["id"]
    carry_out(run_id)
    assert lenient.evals.runs.retrieve(run_id, eval_id=eval_id).error is None
    for item in lenient.evals.runs.output_items.list(run_id, eval_id=eval_id):
        sample = item.sample
        assert (sample.error, sample.seed, sample.max_completion_tokens) == (None, None, None)
        assert [result.sample for result in item.results] == [None]


def test_an_item_has_the_sampling_parameters_that_were_set(client: Client, lenient: OpenAI) -> None:
    eval_id = create(client).json()["id"]
    sampling = {"seed": 7, "max_completion_tokens": 40}
    run_id = start(client, eval_id, data_source={**completions(), "sampling_params": sampling}).json()["id"]
    carry_out(run_id)
    sample = lenient.evals.runs.output_items.list(run_id, eval_id=eval_id).data[0].sample
    assert (sample.seed, sample.max_completion_tokens) == (7, 40)


def graded(lenient: OpenAI, grader: dict[str, Any]) -> Any:
    """The result of a judge about the recorded answer `Reset it.`."""
    config: Any = {**CONFIG, "item_schema": service.CUSTOM["schema"]["properties"]["item"]}
    created = lenient.evals.create(data_source_config=config, testing_criteria=[grader])  # type: ignore[list-item]
    row = {"item": service.TICKET, "sample": {"output_text": "Reset it."}}
    run = lenient.evals.runs.create(created.id, data_source=jsonl(row))
    carry_out(run.id)
    return lenient.evals.runs.output_items.list(run.id, eval_id=created.id).data[0].results[0]


def test_the_sample_of_a_score_has_the_judge_s_conversation(lenient: OpenAI) -> None:
    result = graded(lenient, service.SCORE_MODEL)
    said = json.loads(result.sample["output"][0]["content"])
    assert said["result"] == result.score
    assert said["steps"][0]["description"]
    assert [message["role"] for message in result.sample["input"]] == ["system", "system", "user"]
    assert result.sample["input"][1]["content"] == "You are an expert grader of IT support."
    assert result.sample["input"][2]["content"] == "Score this: Reset it."
    assert result.sample["usage"]["total_tokens"] > 0
    assert (result.sample["finish_reason"], result.sample["error"]) == ("stop", None)
    assert (result.sample["model"], result.sample["max_completions_tokens"]) == ("sim/steady", 4096)


def test_the_sample_of_a_label_has_the_chosen_label(lenient: OpenAI) -> None:
    result = graded(lenient, service.LABEL_MODEL)
    label = json.loads(result.sample["output"][0]["content"])["result"]
    assert label in service.LABEL_MODEL["labels"]
    assert result.passed == (label == "correct")
    assert result.sample["input"][-1]["content"] == "Ticket: My monitor won't turn on\nAnswer: Reset it."


def judged(lenient: OpenAI, client: Client, *assertions: dict[str, Any]) -> list[Any]:
    """The results of an eval whose definition was given these assertions, about the answer `Paris`."""
    eval_id = create(client).json()["id"]
    patched = client.patch(f"/v1/definitions/{eval_id}", {"content": {"assertions": assertions}})
    assert patched.status == 200, patched.text
    run = lenient.evals.runs.create(eval_id, data_source=completions(ITEMS[:1]))
    carry_out(run.id)
    return lenient.evals.runs.output_items.list(run.id, eval_id=eval_id).data[0].results


def judge(name: str, **more: Any) -> dict[str, Any]:
    value = {"messages": [{"role": "user", "content": f"{name}: {{{{ sample.output_text }}}}"}]}
    return {"type": "score-model", "metric": name, "provider": "sim/steady", "value": value, **more}


def test_the_input_of_a_judge_is_absent_if_it_saw_a_transformed_answer(lenient: OpenAI, client: Client) -> None:
    (result,) = judged(lenient, client, judge("tone", transform="output.trim()"))
    assert result.sample["input"] == []
    assert json.loads(result.sample["output"][0]["content"])["result"] == result.score


def test_each_judge_s_input_is_its_own_if_results_have_other_positions(lenient: OpenAI, client: Client) -> None:
    best = {"type": "select-best", "provider": "sim/steady", "value": "The kindest one."}
    results = judged(lenient, client, judge("a"), best, judge("b"), judge("c"))[:3]
    assert [each.sample["input"][-1]["content"] for each in results] == ["a: Paris", "b: Paris", "c: Paris"]


def test_the_sample_of_a_judge_that_failed_has_its_error(lenient: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "should_fail", lambda _, request: len(request.messages) > 1)
    result = graded(lenient, {**service.SCORE_MODEL, "model": "sim/flaky"})
    assert (result.passed, result.sample["output"], result.sample["usage"]) == (False, [], None)
    assert result.sample["error"]["code"] == "grader_error"
    assert result.sample["input"][-1]["content"] == "Score this: Reset it."


def test_a_file_for_evals_has_that_purpose(lenient: OpenAI) -> None:
    assert lenient.files.create(file=("rows", b'{"item": {}}'), purpose="evals").purpose == "evals"


def test_a_refused_eval_is_an_error_of_the_client(lenient: OpenAI) -> None:
    with pytest.raises(sdk.BadRequestError):
        create_eval(lenient, {**EXACT, "operation": "regex"})
