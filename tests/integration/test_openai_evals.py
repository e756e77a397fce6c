"""OpenAI's own client against a stack."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import openai as sdk
import pytest
from openai import OpenAI

from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel_core.scoring.text_metrics import rouge_l
from tests.stacks import ModelServer

ITEMS = [
    {"question": "the cat sat on the mat", "answer": "the cat sat on the mat"},
    {"question": "the cat sat on the mat", "answer": "a dog lay on the mat"},
    {"question": "completely different", "answer": "nothing in common"},
]
SCHEMA = {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}
CONFIG: Any = {"type": "custom", "item_schema": SCHEMA, "include_sample_schema": True}
EXACT: Any = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
NEAR: Any = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "rouge_l",
    "pass_threshold": 0.3,
}
QUALITY: Any = {
    "type": "score_model",
    "name": "quality",
    "model": "sim/steady",
    "range": [1, 7],
    "pass_threshold": 1,
    "input": [{"role": "user", "content": "Rate {{ sample.output_text }}"}],
}
MESSAGES: Any = {"type": "template", "template": [{"role": "user", "content": "{{ item.question }}"}]}
CONTENT: Any = {"type": "file_content", "content": [{"item": item} for item in ITEMS]}


@pytest.fixture(scope="module")
def client(stack: LocalStack) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{stack.api_url}/openai/v1", api_key=stack.token, max_retries=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def eval_id(client: OpenAI) -> str:
    created = client.evals.create(
        name="Sentences", data_source_config=CONFIG, testing_criteria=[EXACT, NEAR, QUALITY], metadata={"team": "a"}
    )
    return created.id


def completed(client: OpenAI, eval_id: str, data_source: Any) -> Any:
    return wait_for(client, client.evals.runs.create(eval_id, data_source=data_source))


def wait_for(client: OpenAI, run: Any) -> Any:
    until = time.monotonic() + 60
    while run.status in ("queued", "in_progress") and time.monotonic() < until:
        run = client.evals.runs.retrieve(run.id, eval_id=run.eval_id)
    assert run.status == "completed", run.error
    return run


def test_a_run_of_completions_is_graded(client: OpenAI, eval_id: str, api: Client) -> None:
    source = {"type": "completions", "model": "sim/echo", "source": CONTENT, "input_messages": MESSAGES}
    run = completed(client, eval_id, source)
    scores = [rouge_l(item["question"], item["answer"]) for item in ITEMS]
    by_name = {each.testing_criteria: each for each in run.per_testing_criteria_results}
    assert (by_name["exact"].passed, by_name["exact"].failed) == (1, 2)
    assert by_name["near"].passed == sum(score >= 0.3 for score in scores)
    assert by_name["quality"].passed == 3
    assert run.result_counts.model_dump() == {"total": 3, "passed": 1, "failed": 2, "errored": 0}
    items = list(client.evals.runs.output_items.list(run.id, eval_id=eval_id, limit=2))
    assert [item.results[1].score for item in items] == pytest.approx(scores)
    assert all(1 <= item.results[2].score <= 7 for item in items)
    assert [item.datasource_item for item in items] == ITEMS
    (failed, _) = client.evals.runs.output_items.list(run.id, eval_id=eval_id, status="fail")
    assert client.evals.runs.output_items.retrieve(failed.id, eval_id=eval_id, run_id=run.id).id == failed.id
    assert api.get_run(run.id)["status"] == "COMPLETED"
    page = httpx.get(run.report_url)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")


CHATS: Any = {"type": "item_reference", "item_reference": "item.chat"}
PROVIDERS = {"sim": "sim/echo", "bench": "custom/any"}


def chat(item: dict[str, str]) -> list[dict[str, str]]:
    return [{"role": "user", "content": item["question"]}]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("messages", [MESSAGES, CHATS], ids=["template", "item_reference"])
@pytest.mark.parametrize("source", ["file_content", "file_id"])
@pytest.mark.parametrize("kind", ["completions", "responses"])
def test_each_source_of_rows_is_asked_of_each_provider(
    client: OpenAI, models: ModelServer, kind: str, source: str, messages: Any, provider: str
) -> None:
    models.configure(script=[{"contains": item["question"], "reply": item["question"]} for item in ITEMS])
    eval_id = client.evals.create(data_source_config=CONFIG, testing_criteria=[EXACT]).id
    rows = [{"item": {**item, "chat": chat(item)}} for item in ITEMS]
    origin: Any = {"type": "file_content", "content": rows}
    if source == "file_id":
        content = "\n".join(map(json.dumps, rows)).encode()
        origin = {"type": "file_id", "id": client.files.create(file=("rows.jsonl", content), purpose="evals").id}
    data_source = {"type": kind, "model": PROVIDERS[provider], "source": origin, "input_messages": messages}
    run = completed(client, eval_id, data_source)
    assert run.result_counts.model_dump() == {"total": 3, "passed": 1, "failed": 2, "errored": 0}
    items = list(client.evals.runs.output_items.list(run.id, eval_id=eval_id))
    assert [item.sample.output[0].content for item in items] == [item["question"] for item in ITEMS]
    assert models.counts()["requests"] == (3 if provider == "bench" else 0)
    client.evals.delete(eval_id)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("kind", "stored"), [("completions", "stored_completions"), ("responses", "responses")])
def test_stored_answers_are_graded_and_asked_again(
    client: OpenAI, models: ModelServer, provider: str, kind: str, stored: str
) -> None:
    models.configure(script=[{"contains": item["question"], "reply": item["question"]} for item in ITEMS])
    producer = client.evals.create(data_source_config=CONFIG, testing_criteria=[EXACT]).id
    answered: Any = {"type": kind, "model": PROVIDERS[provider], "source": CONTENT, "input_messages": MESSAGES}
    metadata = {"usecase": f"{provider}-{kind}"}
    source_run = client.evals.runs.create(producer, data_source=answered, metadata=metadata)
    wait_for(client, source_run)
    config: Any = {"type": "logs" if kind == "responses" else "stored_completions", "metadata": metadata}
    repeated = {**EXACT, "operation": "like", "reference": "{{ item.output[0].content }}"}
    eval_id = client.evals.create(data_source_config=config, testing_criteria=[repeated]).id
    for more, requests in (({}, 3), ({"model": PROVIDERS[provider], "input_messages": INPUTS}, 6)):
        run = completed(client, eval_id, {"type": kind, "source": {"type": stored}, **more})
        assert run.result_counts.model_dump() == {"total": 3, "passed": 3, "failed": 0, "errored": 0}
        assert models.counts()["requests"] == (requests if provider == "bench" else 0)
    with pytest.raises(sdk.BadRequestError, match="has no data"):
        client.evals.runs.create(
            eval_id, data_source={"type": kind, "source": {"type": stored, "metadata": {"usecase": "none"}}}
        )
    client.evals.runs.delete(source_run.id, eval_id=producer)
    assert list(client.evals.runs.list(eval_id)) == []


INPUTS: Any = {"type": "item_reference", "item_reference": "item.input"}


def test_a_run_reads_a_file_that_was_uploaded_in_parts(client: OpenAI, eval_id: str) -> None:
    content = "".join(json.dumps({"item": item}) + "\n" for item in ITEMS).encode()
    made = client.uploads.upload_file_chunked(
        file=content,
        filename="rows.jsonl",
        bytes=len(content),
        mime_type="application/jsonl",
        purpose="evals",
        part_size=100,
    )
    assert made.file is not None
    source = {"type": "file_id", "id": made.file.id}
    run = completed(
        client,
        eval_id,
        {"type": "responses", "model": "sim/echo", "source": source, "input_messages": MESSAGES},
    )
    assert run.result_counts.passed == 1
    client.files.delete(made.file.id)


def test_a_file_is_uploaded_read_and_deleted(client: OpenAI) -> None:
    content = json.dumps({"item": ITEMS[0]}).encode()
    file = client.files.create(file=("rows.jsonl", content), purpose="evals")
    assert client.files.content(file.id).content == content
    assert file.id in [each.id for each in client.files.list()]
    assert client.files.delete(file.id).deleted
    with pytest.raises(sdk.NotFoundError):
        client.files.retrieve(file.id)


def test_a_run_of_jsonl_grades_what_was_recorded(client: OpenAI, eval_id: str) -> None:
    rows = [{"item": item, "sample": {"output_text": item["answer"]}} for item in ITEMS]
    run = completed(client, eval_id, {"type": "jsonl", "source": {"type": "file_content", "content": rows}})
    assert run.result_counts.passed == 3


def test_a_grader_is_run_by_itself_and_models_are_listed(client: OpenAI) -> None:
    found = client.fine_tuning.alpha.graders.run(grader=QUALITY | {"pass_threshold": None}, model_sample="x", item={})
    assert 1 <= found.reward <= 7
    assert client.models.retrieve("sim/echo").owned_by == "sim"


def test_a_run_is_cancelled_and_deleted_and_its_eval_erased(client: OpenAI, api: Client) -> None:
    eval_id = client.evals.create(data_source_config=CONFIG, testing_criteria=[EXACT]).id
    source: Any = {"type": "completions", "model": "sim/steady", "input_messages": MESSAGES}
    many: Any = {"type": "file_content", "content": [{"item": ITEMS[0]}] * 2_000}
    run = client.evals.runs.create(eval_id, data_source={**source, "source": many})
    assert client.evals.runs.cancel(run.id, eval_id=eval_id).status == "canceled"
    assert run.id in [each.id for each in client.evals.runs.list(eval_id)]
    assert client.evals.runs.delete(run.id, eval_id=eval_id).deleted
    assert client.evals.delete(eval_id).deleted
    assert eval_id not in [each["id"] for each in api.list_definitions()]


def test_errors_have_openai_s_form(client: OpenAI, stack: LocalStack) -> None:
    with pytest.raises(sdk.AuthenticationError):
        client.with_options(api_key="cupel_none").evals.list()
    with pytest.raises(sdk.BadRequestError) as refused:
        client.evals.create(data_source_config=CONFIG, testing_criteria=[{**EXACT, "operation": "regex"}])
    assert refused.value.type == "invalid_request_error"
