"""What programs written for OpenAI's Evals API do, with simulated models and OpenAI's own client."""

import json
from typing import Any

import pytest
from openai import OpenAI

from tests.unit.interop.openai_evals.flows import carry_out

pytestmark = pytest.mark.usefixtures("finish_starts")

SUMMARY_GRADER: Any = {
    "type": "label_model",
    "name": "Summary",
    "model": "sim/steady",
    "input": [
        {"role": "developer", "content": "Label the summary of these notifications as correct or incorrect."},
        {
            "role": "user",
            "content": "Notifications: {{item.notifications}}\nSummary: {{sample.choices[0].message.content}}",
        },
    ],
    "labels": ["correct", "incorrect"],
    "passing_labels": ["correct"],
}
NOTIFICATIONS = ["New message from Ann; package delivered", "Rain expected at noon; meeting moved to 3 pm"]
NOTIFICATION_CONFIG: Any = {
    "type": "custom",
    "item_schema": {
        "title": "PushNotifications",
        "type": "object",
        "properties": {"notifications": {"title": "Notifications", "type": "string"}},
        "required": ["notifications"],
    },
    "include_sample_schema": True,
}
SYMBOLS = {
    "type": "object",
    "properties": {"symbols": {"type": "array", "items": {"type": "string"}}},
    "required": ["symbols"],
    "additionalProperties": False,
}
CODE_CONFIG: Any = {
    "type": "custom",
    "item_schema": {"type": "object", "properties": {"input": {"type": "string"}}},
    "include_sample_schema": True,
}


def completion_of(text: str) -> dict[str, Any]:
    """A chat completion as OpenAI's client dumps it: with all of its empty fields."""
    message = {"role": "assistant", "content": text, "refusal": None, "tool_calls": None, "function_call": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini", "choices": [choice]}


def messages_of(prompt: str, content: str) -> Any:
    """With contents as parts, as in most of OpenAI's examples."""
    return {
        "type": "template",
        "template": [
            {"type": "message", "role": "developer", "content": {"type": "input_text", "text": prompt}},
            {"type": "message", "role": "user", "content": {"type": "input_text", "text": content}},
        ],
    }


def test_a_regression_of_a_prompt_is_found_with_recorded_completions(openai: OpenAI) -> None:
    created = openai.evals.create(
        name="Push notifications",
        metadata={"description": "Is the summary correct?"},
        data_source_config=NOTIFICATION_CONFIG,
        testing_criteria=[SUMMARY_GRADER],
    )
    for name in ("baseline-run", "regression-run"):
        rows: Any = [
            {"item": {"notifications": text}, "sample": completion_of(f"{name}: {text}")} for text in NOTIFICATIONS
        ]
        source: Any = {"type": "jsonl", "source": {"type": "file_content", "content": rows}}
        run = openai.evals.runs.create(eval_id=created.id, name=name, data_source=source)
        carry_out(run.id)
        run = openai.evals.runs.retrieve(run_id=run.id, eval_id=created.id)
        assert (run.status, run.result_counts.total, run.result_counts.errored) == ("completed", 2, 0)
        items = openai.evals.runs.output_items.list(run_id=run.id, eval_id=created.id).data
        assert [item.sample.output[0].content for item in items] == [f"{name}: {text}" for text in NOTIFICATIONS]


def test_prompts_and_models_are_compared_by_runs_of_one_eval(openai: OpenAI) -> None:
    created = openai.evals.create(
        name="Prompts", data_source_config=NOTIFICATION_CONFIG, testing_criteria=[SUMMARY_GRADER]
    )
    content: Any = [{"item": {"notifications": text}} for text in NOTIFICATIONS]
    for prompt in ("Summarize.", "Summarize in five words."):
        for model in ("sim/echo", "sim/steady"):
            source: Any = {
                "type": "completions",
                "source": {"type": "file_content", "content": content},
                "input_messages": messages_of(prompt, "<notifications>{{item.notifications}}</notifications>"),
                "model": model,
            }
            run = openai.evals.runs.create(created.id, name=f"{prompt} {model}", data_source=source)
            carry_out(run.id)
    runs = list(openai.evals.runs.list(created.id, status="completed"))
    assert sorted((run.name, run.model) for run in runs) == sorted(
        (f"{prompt} {model}", model)
        for prompt in ("Summarize.", "Summarize in five words.")
        for model in ("sim/echo", "sim/steady")
    )
    assert all(run.result_counts.passed + run.result_counts.failed == 2 for run in runs)


@pytest.mark.parametrize("kind", ["completions", "responses"])
def test_calls_of_tools_are_graded(openai: OpenAI, kind: str) -> None:
    tool = {"name": "extract_symbols", "description": "Extracts symbols", "parameters": SYMBOLS}
    grader: Any = {
        "type": "string_check",
        "name": "called",
        "operation": "like",
        "input": "{{sample.output_tools[0].function.name}} {{sample.output_tools[0].function.arguments.symbols}}",
        "reference": "extract_symbols [",
    }
    created = openai.evals.create(name="Code", data_source_config=CODE_CONFIG, testing_criteria=[grader])
    written = {"type": "function", "function": tool} if kind == "completions" else {"type": "function", **tool}
    sampling = {"seed": 42, "temperature": 0.7, "max_completions_tokens": 10_000, "top_p": 0.9, "tools": [written]}
    run = openai.evals.runs.create(created.id, data_source=asked("sim/steady", kind, sampling))
    carry_out(run.id)
    (item,) = openai.evals.runs.output_items.list(run.id, eval_id=created.id)
    assert (item.status, item.results[0].passed) == ("pass", True), item.results[0]


@pytest.mark.parametrize("kind", ["completions", "responses"])
def test_structured_outputs_are_graded_by_their_fields(openai: OpenAI, kind: str) -> None:
    grader: Any = {
        "type": "score_model",
        "name": "Extraction",
        "model": "sim/steady",
        "input": [
            {"role": "system", "content": "Grade the extraction from 1 to 7."},
            {
                "role": "user",
                "content": "Code: {{item.input}} Symbols: {{sample.output_json.symbols}}",
            },
        ],
        "range": [1, 7],
        "pass_threshold": 1,
    }
    created = openai.evals.create(name="Code", data_source_config=CODE_CONFIG, testing_criteria=[grader])
    schema = {"name": "python_symbols", "schema": SYMBOLS, "strict": True}
    formats: dict[str, Any] = {
        "completions": {"response_format": {"type": "json_schema", "json_schema": schema}},
        "responses": {"text": {"format": {"type": "json_schema", **schema}}},
    }
    sampling = {"max_completions_tokens": 10_000, **formats[kind]}
    run = openai.evals.runs.create(created.id, data_source=asked("sim/steady", kind, sampling))
    carry_out(run.id)
    (item,) = openai.evals.runs.output_items.list(run.id, eval_id=created.id)
    assert (item.status, 1 <= item.results[0].score <= 7) == ("pass", True)


CONTAINED: Any = {
    "type": "string_check",
    "name": "contained",
    "input": "{{ sample.output_text }}",
    "operation": "like",
    "reference": "e",
}


def asked(model: str, kind: str, sampling: dict[str, Any], text: str = "def f(): pass") -> Any:
    return {
        "type": kind,
        "model": model,
        "source": {"type": "file_content", "content": [{"item": {"input": text}}]},
        "input_messages": messages_of("You are a helpful assistant.", "Extract the symbols from {{item.input}}"),
        "sampling_params": sampling,
    }


def test_production_answers_are_monitored_by_the_version_of_their_prompt(openai: OpenAI) -> None:
    """Completions that were stored with metadata are graded as they are, and another model is asked the same."""
    producer = openai.evals.create(name="App", data_source_config=CODE_CONFIG, testing_criteria=[CONTAINED])
    for version in ("v1", "v2"):
        for text in NOTIFICATIONS:
            source = asked("sim/steady", "completions", {}, text)
            metadata = {"prompt_version": version, "usecase": "push_notifications_summarizer"}
            carry_out(openai.evals.runs.create(producer.id, data_source=source, metadata=metadata).id)
    created = openai.evals.create(
        name="Push notifications",
        data_source_config={
            "type": "stored_completions",
            "metadata": {"usecase": "push_notifications_summarizer"},
        },
        testing_criteria=[
            {
                **SUMMARY_GRADER,
                "input": [{"role": "user", "content": "Notifications: {{item.input}} Summary: {{sample.output_text}}"}],
            }
        ],
    )
    for version, more in (
        ("v1", {}),
        ("v2", {}),
        ("v1", {"model": "sim/bold", "input_messages": {"type": "item_reference", "item_reference": "item.input"}}),
    ):
        stored: Any = {"type": "stored_completions", "metadata": {"prompt_version": version}}
        data_source: Any = {"type": "completions", "source": stored, **more}
        run = openai.evals.runs.create(created.id, name=f"{version}-run", data_source=data_source)
        carry_out(run.id)
        run = openai.evals.runs.retrieve(run.id, eval_id=created.id)
        assert (run.status, run.result_counts.total, run.result_counts.errored) == ("completed", 2, 0)
        items = openai.evals.runs.output_items.list(run.id, eval_id=created.id).data
        assert {item.datasource_item["metadata"]["prompt_version"] for item in items} == {version}
    assert [run.name for run in openai.evals.runs.list(created.id)] == ["v1-run", "v2-run", "v1-run"]


def test_logged_responses_are_compared_with_those_of_another_model(openai: OpenAI) -> None:
    producer = openai.evals.create(name="App", data_source_config=CODE_CONFIG, testing_criteria=[CONTAINED])
    source = asked("sim/echo", "responses", {})
    carry_out(openai.evals.runs.create(producer.id, data_source=source, metadata={"app": "code"}).id)
    logs = openai.evals.create(
        name="Logs", data_source_config={"type": "logs", "metadata": {"app": "code"}}, testing_criteria=[CONTAINED]
    )
    template = [{"role": "user", "content": {"type": "input_text", "text": "{{item.input[1].content}}"}}]
    for more in ({}, {"model": "sim/echo", "input_messages": {"type": "template", "template": template}}):
        data_source: Any = {"type": "responses", "source": {"type": "responses"}, **more}
        run = openai.evals.runs.create(logs.id, data_source=data_source)
        carry_out(run.id)
        (item,) = openai.evals.runs.output_items.list(run.id, eval_id=logs.id)
        assert (item.status, item.datasource_item["metadata"]) == ("pass", {"app": "code"})
        assert "Extract the symbols from def f(): pass" in (item.sample.output[0].content or "")


def test_tickets_are_classified_from_an_uploaded_file(openai: OpenAI) -> None:
    """The first example of OpenAI's guide, which compares labels in lower case."""
    tickets = [("My monitor won't turn on", "Hardware"), ("I'm in vim and cannot quit", "Software")]
    schema = {"type": "object", "properties": {"ticket_text": {"type": "string"}, "correct_label": {"type": "string"}}}
    rows = [{"item": {"ticket_text": text, "correct_label": label}} for text, label in tickets]
    file = openai.files.create(file=("tickets.jsonl", "\n".join(map(json.dumps, rows)).encode()), purpose="evals")
    created = openai.evals.create(
        name="IT Ticket Categorization",
        data_source_config={"type": "custom", "item_schema": schema, "include_sample_schema": True},
        testing_criteria=[
            {
                "type": "string_check",
                "name": "Match output to human label",
                "input": "{{ sample.output_text }}",
                "operation": "ilike",
                "reference": "{{ item.ticket_text }}",
            }
        ],
    )
    run = openai.evals.runs.create(
        created.id,
        name="Categorization text run",
        data_source={
            "type": "responses",
            "model": "sim/echo",
            "input_messages": {
                "type": "template",
                "template": [
                    {"role": "developer", "content": "Categorize into Hardware, Software, or Other."},
                    {"role": "user", "content": "{{ item.ticket_text }}"},
                ],
            },
            "source": {"type": "file_id", "id": file.id},
        },
    )
    assert run.status == "queued"
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=created.id)
    assert run.result_counts.model_dump() == {"total": 2, "passed": 2, "failed": 0, "errored": 0}
    assert run.per_testing_criteria_results[0].testing_criteria == "Match output to human label"
