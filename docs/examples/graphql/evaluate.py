"""A whole evaluation by GraphQL alone: from a definition to the conclusion of an experiment.

Needs httpx and pydantic. CUPEL_API_URL and CUPEL_TOKEN name the stack; the simulated model costs nothing.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import httpx
from pydantic import BaseModel

type Ask = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Sends a query with its variables, and returns its data."""

CONTENT = {
    "template": "A customer asks [mood] for a refund of [amount]. Rate from 1 to 5 how far you would grant it.",
    "dimensions": [
        {"name": "amount", "levels": [{"score": n, "label": f"{n * 10} euros"} for n in range(1, 6)]},
        {"name": "mood", "levels": [{"score": 1, "label": "angrily"}, {"score": 2, "label": "politely"}]},
    ],
    "decision": {"pattern": r"(?im)^rating:\s*([1-5])"},
}
MODEL = "sim/steady"
MAX_BUDGET_USD = 1.0
CREATE = """mutation ($input: CreateDefinitionInput!) { createDefinition(input: $input) { id warnings { message } } }"""
PREVIEW = """query ($id: ID!) { previewScenarios(definitionId: $id, limit: 2) {
  total scenarios { dimensions messages { content } } } }"""
GENERATE = "mutation ($id: ID!) { generateScenarios(definitionId: $id, seed: 1) { id status } }"
GENERATION = "query ($id: ID!, $generation: ID!) { scenarioGeneration(definitionId: $id, id: $generation) { status } }"
ESTIMATE = "query ($input: StartRunInput!) { estimateRun(input: $input) { jobCount usd { high } } }"
START = "mutation ($input: StartRunInput!) { startRun(input: $input) { id jobCount } }"
FOLLOW = """query ($id: ID!) { run(id: $id) {
  status progress { total completed failed } failure { why } costUsd budget { maxBudgetUsd } } }"""
ANALYSIS = """query ($id: ID!) { run(id: $id) { analysis {
  isCurrent mostContestedScenarios(limit: 3) { scenarioName variance }
  figures { columns { targetId estimate { completed decision { mean interval95 } } } } } } }"""
EXPERIMENT = "mutation ($input: CreateExperimentInput!) { createExperiment(input: $input) { id } }"
COMPARE = """mutation ($baseline: ID!, $run: ID!) {
  compareRuns(baselineRunId: $baseline, comparisonRunId: $run) { id } }"""
COMPARISON = """query ($id: ID!) { comparison(id: $id) {
  status verdict sentence failure { why } whatChanged { summary } } }"""
SUMMARY = "query ($id: ID!) { experiment(id: $id) { summary { pendingRunIds suggestedConclusion } } }"
CONCLUDE = """mutation ($id: ID!, $input: UpdateExperimentInput!) {
  updateExperiment(id: $id, input: $input) { id status conclusion note } }"""


class Progress(BaseModel):
    total: int
    completed: int
    failed: int


class Run(BaseModel):
    """What FOLLOW asks for."""

    status: str
    progress: Progress
    costUsd: float | None  # noqa: N815 - the field's name
    budget: dict[str, float]
    failure: dict[str, str] | None


class Comparison(BaseModel):
    """What COMPARISON asks for."""

    status: str
    verdict: str | None
    sentence: str | None
    failure: dict[str, str] | None
    whatChanged: dict[str, list[str]] | None  # noqa: N815 - the field's name


class Experiment(BaseModel):
    """What CONCLUDE returns."""

    id: str
    status: str
    conclusion: str
    note: str


def evaluate(ask: Ask, poll_seconds: float = 2.0) -> Experiment:
    """Whether a higher temperature makes the model more generous."""
    definition_id = create_definition(ask, poll_seconds)
    baseline = run(ask, poll_seconds, definition_id, "baseline")
    design = {"name": f"Generosity {definition_id}", "hypothesis": "A higher temperature makes it more generous"}
    expected = {"direction": "HIGHER", "baselineRunId": baseline}
    experiment_id: str = ask(EXPERIMENT, {"input": design | expected})["createExperiment"]["id"]
    warmer = run(ask, poll_seconds, definition_id, "warmer", experimentId=experiment_id, temperature=1.5)
    compared = compare(ask, poll_seconds, baseline, warmer)

    def summary() -> dict[str, Any] | None:
        found: dict[str, Any] = ask(SUMMARY, {"id": experiment_id})["experiment"]["summary"]
        return None if found["pendingRunIds"] else found

    suggested = wait_for(summary, poll_seconds)["suggestedConclusion"]
    conclusion = {"conclusion": suggested or "INCONCLUSIVE", "note": compared.sentence}
    concluded = ask(CONCLUDE, {"id": experiment_id, "input": conclusion})["updateExperiment"]
    return Experiment.model_validate(concluded)


def create_definition(ask: Ask, poll_seconds: float) -> str:
    """With a scenario for each combination of levels."""
    created = ask(CREATE, {"input": {"name": "Refunds", "content": CONTENT}})["createDefinition"]
    definition_id: str = created["id"]
    preview = ask(PREVIEW, {"id": definition_id})["previewScenarios"]
    print(f"{preview['total']} scenarios, such as: {preview['scenarios'][0]['messages'][0]['content']}")
    generation = ask(GENERATE, {"id": definition_id})["generateScenarios"]

    def ended() -> bool:
        found = ask(GENERATION, {"id": definition_id, "generation": generation["id"]})["scenarioGeneration"]
        return found["status"] not in ("QUEUED", "RUNNING")

    wait_for(ended, poll_seconds)
    return definition_id


def run(ask: Ask, poll_seconds: float, definition_id: str, key: str, **more: Any) -> str:
    """The id of a run that has ended and is analyzed. A repeated start with the same key starts it once."""
    planned = {
        "definitionId": definition_id,
        "models": [MODEL],
        "sampleSeed": 7,
        "maxBudgetUsd": MAX_BUDGET_USD,
        **more,
    }
    estimate = ask(ESTIMATE, {"input": planned})["estimateRun"]
    if estimate["usd"]["high"] > MAX_BUDGET_USD:
        raise SystemExit(f"{estimate['jobCount']} probes may cost ${estimate['usd']['high']}")
    started = ask(START, {"input": {**planned, "idempotencyKey": f"{definition_id}-{key}"}})["startRun"]

    def ended() -> Run | None:
        found = Run.model_validate(ask(FOLLOW, {"id": started["id"]})["run"])
        print(f"{key}: {found.status}, {found.progress.completed} of {found.progress.total}")
        return found if found.status in ("COMPLETED", "FAILED", "CANCELLED") else None

    if (found := wait_for(ended, poll_seconds)).status != "COMPLETED":
        raise SystemExit(f"the run has ended as {found.status}: {found.failure}")
    for column in ask(ANALYSIS, {"id": started["id"]})["run"]["analysis"]["figures"]["columns"]:
        decision = column["estimate"]["decision"]
        print(f"{key}: {column['targetId']} decides {decision['mean']} on average, 95 % {decision['interval95']}")
    return str(started["id"])


def compare(ask: Ask, poll_seconds: float, baseline: str, other: str) -> Comparison:
    comparison_id = ask(COMPARE, {"baseline": baseline, "run": other})["compareRuns"]["id"]

    def ended() -> Comparison | None:
        found = Comparison.model_validate(ask(COMPARISON, {"id": comparison_id})["comparison"])
        return None if found.status in ("QUEUED", "RUNNING") else found

    found = wait_for(ended, poll_seconds)
    if found.whatChanged is None:
        raise SystemExit(f"the comparison has ended as {found.status}: {found.failure}")
    print(f"{found.sentence} What differs: {' '.join(found.whatChanged['summary'])}")
    return found


def wait_for[T](poll: Callable[[], T | None], seconds: float) -> T:
    """What `poll` returns once that is true."""
    while not (found := poll()):
        time.sleep(seconds)
    return found


def connect(http: httpx.Client, api_url: str, token: str) -> Ask:
    def ask(query: str, variables: dict[str, Any]) -> dict[str, Any]:
        body = {"query": query, "variables": variables}
        response = http.post(f"{api_url}/v1/graphql", json=body, headers={"Authorization": f"Bearer {token}"})
        answer = response.json()
        if "errors" in answer or "data" not in answer:
            raise SystemExit(f"{response.status_code}: {answer}")
        return dict(answer["data"])

    return ask


if __name__ == "__main__":
    with httpx.Client(timeout=30) as client:
        print(evaluate(connect(client, os.environ["CUPEL_API_URL"], os.environ["CUPEL_TOKEN"])))
