"""Evals of agents behind third-party servers, end to end: API, queue, worker, connector, judge."""

import time
from typing import Any

from cupel.client import Client
from tests.eval_api import Json, assistant_messages, wait_for_end
from tests.stacks import ModelServer

JUDGED = {"judgeModel": "custom/judge", "personaModel": "custom/user"}


def eval_of(api: Client, connector: Json, scenarios: list[Json]) -> Json:
    """Run an eval of this agent; returns the finished run."""
    connector_id = api.create_connector({"name": f"agent {time.time_ns()}", **connector})["id"]
    assert api.test_connector(str(connector_id))["ok"] is True
    definition_id = str(api.create_definition({"name": "agents", "content": {"system": "Be kind."}})["id"])
    ids = api.create_scenarios(definition_id, scenarios)["ids"]
    body = {"name": f"eval {time.time_ns()}", "connectorId": connector_id, "scenarioIds": ids, **JUDGED}
    eval_id = str(api.create_eval(body)["id"])
    return wait_for_end(api, api.create_eval_run(eval_id)["run"]["id"])


def script(done: str) -> list[Json]:
    """A judge that passes once the conversation contains `done`, and a user who continues until then."""
    verdict: dict[str, Any] = {"failureMet": False, "confidence": 1, "reasoning": "by its words"}
    return [
        {"model": "judge", "contains": done, "reply": {"successMet": True, **verdict}},
        {"model": "judge", "reply": {"successMet": False, **verdict}},
        {"model": "user", "reply": {"content": "go on"}},
    ]


def test_conversations_with_a_langgraph_server(api: Client, models: ModelServer, langgraph: str) -> None:
    models.configure(script=script("3: go on"))
    scenarios = [{"prompt": f"hello {number}", "successCriteria": "it counts to three"} for number in range(10)]
    run = eval_of(api, {"type": "langgraph", "baseUrl": langgraph, "headers": {"x-api-key": "of-the-test"}}, scenarios)
    transcripts = list(api.list_transcripts(run["id"]))
    assert (run["status"], len(transcripts)) == ("COMPLETED", 10)
    # The agent counts the messages of its thread: each conversation has its own, and no message was received twice.
    assert [assistant_messages(transcript) for transcript in transcripts] == [
        [f"1: hello {n}", "2: go on", "3: go on"] for n in range(10)
    ]
    assert {transcript["result"]["success"] for transcript in transcripts} == {True}
    assert {transcript["modelVersion"] for transcript in transcripts} == {"no-model"}
    assert api.get_probe(f"{run['id']}-0")["output"] == {"heard": 3}


def test_conversations_with_an_openai_compatible_server(
    api: Client, models: ModelServer, litellm: tuple[str, str]
) -> None:
    url, key = litellm
    models.configure(script=script("A mock answer"))
    connector = {
        "type": "openai",
        "baseUrl": url,
        "headers": {"Authorization": f"Bearer {key}"},
        "config": {"model": "parrot"},
    }
    run = eval_of(api, connector, [{"prompt": "hello", "successCriteria": "it answers"}])
    (transcript,) = api.list_transcripts(run["id"])
    assert (run["status"], assistant_messages(transcript)) == ("COMPLETED", ["A mock answer"])
    assert key not in str(api.get_run(run["id"])) + str(transcript) + str(list(api.list_connectors()))
