"""Evals of agents behind servers written by others, the whole way: API, queue, worker, connector, judge."""

import time
from typing import Any

from cupel.client import Client
from tests.eval_api import Json, answers, finished
from tests.stacks import ModelServer

JUDGED = {"judgeModel": "custom/judge", "personaModel": "custom/user"}


def eval_of(api: Client, connector: Json, scenarios: list[Json]) -> Json:
    """A run of an eval of this agent, at its end."""
    connector_id = api.keep("connectors", {"name": f"agent {time.time_ns()}", **connector})["id"]
    assert api.test_connector(str(connector_id))["ok"] is True
    definition_id = str(api.create_definition({"name": "agents", "content": {"system": "Be kind."}})["id"])
    ids = api.add_scenarios(definition_id, scenarios)["ids"]
    body = {"name": f"eval {time.time_ns()}", "connectorId": connector_id, "scenarioIds": ids, **JUDGED}
    eval_id = str(api.keep("evals", body)["id"])
    return finished(api, api.run_eval(eval_id)["run"]["id"])


def script(done: str) -> list[Json]:
    """A judge that is content once the conversation contains `done`, and a user who goes on."""
    verdict: dict[str, Any] = {"failureMet": False, "confidence": 1, "reasoning": "by its words"}
    return [
        {"model": "judge", "contains": done, "reply": {"successMet": True, **verdict}},
        {"model": "judge", "reply": {"successMet": False, **verdict}},
        {"model": "user", "reply": {"content": "go on"}},
    ]


def test_conversations_with_a_langgraph_server(api: Client, models: ModelServer, langgraph: str) -> None:
    models.behave(script=script("3: go on"))
    scenarios = [{"prompt": f"hello {number}", "successCriteria": "it counts to three"} for number in range(10)]
    run = eval_of(api, {"type": "langgraph", "baseUrl": langgraph, "headers": {"x-api-key": "of-the-test"}}, scenarios)
    found = list(api.transcripts(run["id"]))
    assert (run["status"], len(found)) == ("COMPLETED", 10)
    # The agent counts the messages of its own thread: each conversation has one, and no message came twice.
    assert [answers(each) for each in found] == [[f"1: hello {n}", "2: go on", "3: go on"] for n in range(10)]
    assert {each["result"]["success"] for each in found} == {True}
    assert {each["modelVersion"] for each in found} == {"no-model"}
    assert api.probe(f"{run['id']}-0")["output"] == {"heard": 3}


def test_conversations_with_an_openai_compatible_server(
    api: Client, models: ModelServer, litellm: tuple[str, str]
) -> None:
    url, key = litellm
    models.behave(script=script("A mock answer"))
    connector = {
        "type": "openai",
        "baseUrl": url,
        "headers": {"Authorization": f"Bearer {key}"},
        "config": {"model": "parrot"},
    }
    run = eval_of(api, connector, [{"prompt": "hello", "successCriteria": "it answers"}])
    (transcript,) = api.transcripts(run["id"])
    assert (run["status"], answers(transcript)) == ("COMPLETED", ["A mock answer"])
    assert key not in str(api.run(run["id"])) + str(transcript) + str(list(api.kept("connectors")))
