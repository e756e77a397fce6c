"""What programs written for OpenAI's Evals API do, with simulated models and OpenAI's own client."""

from typing import Any

import pytest
from openai import OpenAI

from tests.unit.openai_evals.flows import carry_out

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


def asked(model: str, kind: str, sampling: dict[str, Any]) -> Any:
    return {
        "type": kind,
        "model": model,
        "source": {"type": "file_content", "content": [{"item": {"input": "def f(): pass"}}]},
        "input_messages": messages_of("You are a helpful assistant.", "Extract the symbols from {{item.input}}"),
        "sampling_params": sampling,
    }
