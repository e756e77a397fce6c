"""Answers of OpenAI's own service, written after its API reference and the outputs that its cookbook prints."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
from openai import OpenAI

TICKET = {"ticket_text": "My monitor won't turn on", "correct_label": "Hardware"}
STRING_CHECK: dict[str, Any] = {
    "name": "Match output to human label",
    "id": "Match output to human label-c4fdf789-2fa5-407f-8a41-a6f4f9afd482",
    "type": "string_check",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.correct_label }}",
    "operation": "eq",
}
TEXT_SIMILARITY: dict[str, Any] = {
    "name": "Close",
    "id": "Close-0f3c1f0e-6c0e-4f0e-9a8e-0d5b6d4e3c21",
    "type": "text_similarity",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.correct_label }}",
    "evaluation_metric": "fuzzy_match",
    "pass_threshold": 0.8,
}
LABEL_MODEL: dict[str, Any] = {
    "name": "Push Notification Summary Grader",
    "id": "Push Notification Summary Grader-9b876f24-4762-4be9-aff4-db7a9b31c673",
    "type": "label_model",
    "model": "sim/steady",
    "input": [
        {
            "type": "message",
            "role": "developer",
            "content": {"type": "input_text", "text": "Label the answer as either correct or incorrect."},
        },
        {
            "type": "message",
            "role": "user",
            "content": {"type": "input_text", "text": "Ticket: {{item.ticket_text}}\nAnswer: {{sample.output_text}}"},
        },
    ],
    "passing_labels": ["correct"],
    "labels": ["correct", "incorrect"],
    "sampling_params": None,
}
SCORE_MODEL: dict[str, Any] = {
    "name": "Score Model Grader",
    "id": "Score Model Grader-b1a2c3d4-5e6f-4a0b-8c1d-2e3f4a5b6c7d",
    "type": "score_model",
    "model": "sim/steady",
    "input": [
        {
            "type": "message",
            "role": "system",
            "content": {"type": "input_text", "text": "You are an expert grader of IT support."},
        },
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Score this: {{ sample.output_text }}"}],
            "type": "message",
            "status": "completed",
            "tool_calls": None,
        },
    ],
    "range": [0.0, 1.0],
    "pass_threshold": 0.9,
    "sampling_params": {
        "seed": None,
        "top_p": 1.0,
        "temperature": 1.0,
        "max_completions_tokens": 4096,
        "reasoning_effort": None,
    },
}
PYTHON: dict[str, Any] = {
    "name": "Python",
    "id": "Python-7a1b8e0c-1c7d-4a52-9a3e-5b9f0b1d2c3e",
    "type": "python",
    "source": "def grade(sample, item):\n    return 1.0",
    "image_tag": None,
    "pass_threshold": 0.5,
}
IMAGE_JUDGE: dict[str, Any] = {
    **SCORE_MODEL,
    "name": "Image",
    "id": "Image-1d2c3e4f-1c7d-4a52-9a3e-5b9f0b1d2c3e",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look: {{ sample.output_text }}"},
                {"type": "input_image", "image_url": "{{ item.media_url }}", "detail": "auto"},
            ],
        }
    ],
}
CUSTOM: dict[str, Any] = {
    "type": "custom",
    "schema": {
        "type": "object",
        "properties": {
            "item": {
                "type": "object",
                "properties": {"ticket_text": {"type": "string"}, "correct_label": {"type": "string"}},
                "required": ["ticket_text", "correct_label"],
            },
            "sample": {"type": "object", "properties": {}, "required": []},
        },
        "required": ["item", "sample"],
    },
}
LOGS: dict[str, Any] = {
    "type": "stored_completions",
    "metadata": {"usecase": "push_notifications_summarizer"},
    "schema": {
        "type": "object",
        "properties": {"item": {"type": "object"}, "sample": {"type": "object"}},
        "required": ["item", "sample"],
    },
}


def eval_of(name: str, *graders: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "object": "eval",
        "id": f"eval_{name.lower()}",
        "data_source_config": CUSTOM,
        "testing_criteria": list(graders),
        "name": name,
        "created_at": 1739314509,
        "metadata": {},
        **more,
    }


def run_of(evaluation: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "object": "eval.run",
        "id": f"evalrun_{evaluation['id']}",
        "eval_id": evaluation["id"],
        "report_url": "https://platform.openai.com/evaluations/abc123",
        "status": "completed",
        "model": "gpt-4.1",
        "name": "Categorization text run",
        "created_at": 1743015028,
        "result_counts": {"total": 3, "errored": 0, "failed": 1, "passed": 2},
        "per_model_usage": None,
        "per_testing_criteria_results": None,
        "data_source": {
            "type": "completions",
            "source": {"type": "file_id", "id": "file-J7MoX9ToHXp2TutMEeYnwj"},
            "input_messages": {
                "type": "template",
                "template": [
                    {
                        "type": "message",
                        "role": "user",
                        "content": {"type": "input_text", "text": "{{item.ticket_text}}"},
                    }
                ],
            },
            "model": "gpt-4.1",
            "sampling_params": None,
        },
        "error": None,
        "metadata": {},
        "shared_with_openai": False,
        **more,
    }


def item_of(run: dict[str, Any], number: int, text: str | None, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, "tool_call_id": None, "tool_calls": None, "function_call": None}
    return {
        "object": "eval.run.output_item",
        "id": f"outputitem_{number}",
        "created_at": 1743092076,
        "run_id": run["id"],
        "eval_id": run["eval_id"],
        "status": "pass",
        "datasource_item_id": number,
        "datasource_item": TICKET,
        "results": [{"name": STRING_CHECK["id"], "sample": None, "passed": True, "score": 1.0}],
        "sample": {
            "input": [{**said, "role": "user", "content": TICKET["ticket_text"]}],
            "output": [{**said, **message}],
            "finish_reason": "stop",
            "model": "gpt-4.1-2025-04-14",
            "usage": {"total_tokens": 325, "completion_tokens": 2, "prompt_tokens": 323, "cached_tokens": 0},
            "error": None,
            "temperature": 1.0,
            "max_completion_tokens": None,
            "top_p": 1.0,
            "seed": None,
        },
    }


def unanswered_items_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Items whose model gave no answer, in the forms that clients may get."""
    failed = item_of(run, 1, None)
    error = {"code": "server_error", "message": "The model failed."}
    samples = ({**failed["sample"], "output": [], "error": error}, {**failed["sample"], "output": None}, None)
    return [{**failed, "id": f"outputitem_{number}", "sample": sample} for number, sample in enumerate(samples)]


def service_client(
    *evaluations: dict[str, Any], more_items: Callable[..., list[dict[str, Any]]] | None = None, unreachable: str = ""
) -> OpenAI:
    """OpenAI's client on a service with these evals, each of which has one run with three items and `more_items`.

    The connection fails for the path `unreachable`.
    """
    answers: dict[str, list[dict[str, Any]]] = {"/v1/evals": list(evaluations)}
    for each in evaluations:
        run = run_of(each)
        call = {"id": "call_1", "type": "function", "function": {"name": "route", "arguments": "{}"}}
        answers[f"/v1/evals/{each['id']}/runs"] = [run]
        answers[f"/v1/evals/{each['id']}/runs/{run['id']}/output_items"] = [
            item_of(run, 1, "Hardware"),
            item_of(run, 2, "Software"),
            item_of(run, 3, None, tool_calls=[call]),
            *(more_items(run) if more_items else ()),
        ]

    def respond(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == unreachable:
            raise httpx2.ConnectError("refused")
        found = answers[request.url.path]
        page = {"object": "list", "data": found, "has_more": False}
        if found:
            page |= {"first_id": found[0]["id"], "last_id": found[-1]["id"]}
        return httpx2.Response(200, content=json.dumps(page).encode(), headers={"content-type": "application/json"})

    transport = httpx2.MockTransport(respond)
    return OpenAI(api_key="sk-test", http_client=httpx2.Client(transport=transport), max_retries=0)
