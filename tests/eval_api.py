"""Evaluations through the API of a stack, and waiting for what comes of them."""

import time
from collections.abc import Callable
from typing import Any

from cupel.client import Client

type Json = dict[str, Any]

RATING = {"decision": {"pattern": r"(?im)^rating:\s*([1-5])"}}
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")


def until[T](ask: Callable[[], T], seconds: float = 30, every: float = 0.1) -> T:
    """The first answer that is true; the last one is part of the failure when the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        found = ask()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(every)


def define(api: Client, scenarios: int | list[str], content: Json = RATING) -> str:
    """A definition with as many scenarios, or with these prompts."""
    prompts = scenarios if isinstance(scenarios, list) else [f"Question {n}: rate it." for n in range(scenarios)]
    definition_id = str(api.create_definition({"name": "whole way", "content": content})["id"])
    items = [{"prompt": prompt, "dimensions": {"stakes": n % 5 + 1}} for n, prompt in enumerate(prompts)]
    api.add_scenarios(definition_id, items)
    return definition_id


def start(api: Client, definition_id: str, *models: str, **more: Any) -> str:
    """The id of a new run."""
    return str(api.start_run({"definitionId": definition_id, "models": list(models), **more})["run"]["id"])


def finished(api: Client, run_id: str, seconds: float = 60) -> Json:
    """The run once it is at its end."""

    def ended() -> Json | None:
        run = api.run(run_id)
        return run if run["status"] in TERMINAL else None

    return until(ended, seconds) or {}


def evaluate(api: Client, definition_id: str, *models: str, **more: Any) -> Json:
    return finished(api, start(api, definition_id, *models, **more))


def answers(transcript: Json) -> list[str]:
    return [message["content"] for message in transcript["content"]["messages"] if message["role"] == "assistant"]
