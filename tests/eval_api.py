"""Evaluations through the API of a stack, and waiting for their results."""

import time
from collections.abc import Callable
from typing import Any

from cupel.client import Client

type Json = dict[str, Any]

RATING = {"decision": {"pattern": r"(?im)^rating:\s*([1-5])"}}
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")


def wait_until[T](poll: Callable[[], T], seconds: float = 30, every: float = 0.1) -> T:
    """Call `poll` until its result is true, and return that; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        result = poll()
        if result:
            return result
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(every)


def create_definition(api: Client, scenarios: int | list[str], content: Json = RATING) -> str:
    """Create a definition with this number of scenarios, or with these prompts; returns its id."""
    prompts = scenarios if isinstance(scenarios, list) else [f"Question {n}: rate it." for n in range(scenarios)]
    definition_id = str(api.create_definition({"name": "end to end", "content": content})["id"])
    items = [{"prompt": prompt, "dimensions": {"stakes": n % 5 + 1}} for n, prompt in enumerate(prompts)]
    api.create_scenarios(definition_id, items)
    return definition_id


def start_run(api: Client, definition_id: str, *models: str, **more: Any) -> str:
    """Start a run; returns its id."""
    return str(api.create_run({"definitionId": definition_id, "models": list(models), **more})["run"]["id"])


def wait_for_end(api: Client, run_id: str, seconds: float = 60) -> Json:
    """The run, once it has ended."""

    def ended() -> Json | None:
        run = api.get_run(run_id)
        return run if run["status"] in TERMINAL else None

    return wait_until(ended, seconds) or {}


def evaluate(api: Client, definition_id: str, *models: str, **more: Any) -> Json:
    return wait_for_end(api, start_run(api, definition_id, *models, **more))


def assistant_messages(transcript: Json) -> list[str]:
    return [message["content"] for message in transcript["content"]["messages"] if message["role"] == "assistant"]


def figures_of(api: Client, run: Json) -> Json:
    """Return the figures of a run's analysis, which is complete and current."""
    analysis = api.get_run_analysis(run["id"])
    assert (analysis["status"], analysis["isStale"]) == ("COMPLETED", False)
    return dict(analysis["figures"])
