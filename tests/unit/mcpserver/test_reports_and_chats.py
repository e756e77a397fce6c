"""Reports, chats and profiles of models: what the API has of them, in parts that a model can read."""

from dataclasses import replace
from typing import Any

from cupel_core.chats.worker import WorkResult
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from cupel_core.interfaces.mcp.models import UNTRUSTED
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api.test_chat_turns import work
from tests.unit.api.test_reports import answered, carry_out
from tests.unit.mcpserver.cases import INJECTION, World
from tests.unit.mcpserver.conftest import McpClient


class DecidedRun(AnsweredRun):
    """Whose decisions are the scenarios' levels, or one more."""

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        found = super().outcome(run, index)
        assert isinstance(found, Transcript)
        probe = run.plan.probe(index)
        return replace(found, summary=Summary(str(1 + probe.case % 2 + (probe.case % 10 == 0)), "", NOW))


CASES = tuple(
    Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), {"stakes": float(number % 2)})
    for number in range(20)
)
FIELDS: dict[str, Any] = {"content": Content(decision=DecisionMethod(pattern="Rating: ([1-5])")), "workspace": "acme"}


def chat_of(client: McpClient, cloud: Settings, *contents: str) -> str:
    chat = client.post("/v1/chats", {"title": "refunds", "target": {"model": "sim/steady"}}).json()["id"]
    for content in contents:
        assert client.post(f"/v1/chats/{chat}/turns", {"content": content}).status == 201
        assert work(cloud)[-1] is WorkResult.ENDED
    return str(chat)


def test_a_chat_is_read_page_by_page_and_its_texts_stay_data(client: McpClient, cloud: Settings) -> None:
    chat = chat_of(client, cloud, "one", INJECTION)
    (listed,) = client.use("list_chats")["items"]
    assert (listed["id"], listed["target"]["model"]) == (chat, "sim/steady")
    found = client.use("get_chat", {"chat_id": chat})
    assert (found["notice"], found["title"]) == (UNTRUSTED, "refunds")
    branch = {"chat_id": chat, "branch_id": found["activeBranchId"]}
    newest = client.use("list_exchanges", {**branch, "limit": 1})
    assert newest["notice"] == UNTRUSTED
    (exchange,) = newest["items"]
    assert (exchange["position"], exchange["user"]["content"]) == (1, INJECTION)
    rest = client.get(f"/v1/chats/{chat}/branches/{branch['branch_id']}/exchanges").json()["items"][0]
    assert exchange["answer"]["content"] == rest["answer"]["content"]
    oldest = client.use("list_exchanges", {**branch, "limit": 1, "cursor": newest["nextCursor"]})
    assert [each["user"]["content"] for each in oldest["items"]] == ["one"]
    assert "nextCursor" not in oldest


def test_long_messages_of_a_chat_are_cut(client: McpClient, cloud: Settings) -> None:
    chat = chat_of(client, cloud, "é" * 30_000, "two")
    received: list[int] = []
    branch = {"chat_id": chat, "branch_id": client.use("get_chat", {"chat_id": chat})["activeBranchId"]}
    page: dict[str, Any] = {"nextCursor": None}
    while "nextCursor" in page:
        page = client.use("list_exchanges", {**branch, "cursor": page["nextCursor"]})
        received += [each["position"] for each in page["items"]]
    assert received == [1, 0]
    assert page["truncated"]


def test_a_chat_without_this_branch_is_not_found(client: McpClient, cloud: Settings) -> None:
    chat = chat_of(client, cloud)
    assert client.problem("list_exchanges", {"chat_id": chat, "branch_id": "br_none"})["status"] == 404


def test_a_report_is_made_once_and_read(client: McpClient) -> None:
    run = answered().completed()
    assert client.problem("get_report", {"run_id": run.id})["status"] == 404
    made, again = (client.use("create_report", {"run_id": run.id, "summarizer_model": None}) for _ in range(2))
    assert (made["id"], made["status"]) == (again["id"], "QUEUED")
    assert client.problem("get_report", {"run_id": run.id})["status"] == 404
    carry_out()
    report = client.use("get_report", {"run_id": run.id})
    rest = client.get(f"/v1/runs/{run.id}/report").json()["content"]
    assert (report["notice"], report["id"], report["status"]) == (UNTRUSTED, made["id"], "COMPLETED")
    assert [each["figures"]["winRate"]["share"] for each in report["content"]["columns"]] == [
        each["figures"]["winRate"]["share"] for each in rest["columns"]
    ]
    assert [each["tag"] for each in report["content"]["topFailureModes"]] == [
        each["tag"] for each in rest["topFailureModes"]
    ]
    assert report["content"]["cost"]["usd"] == rest["cost"]["usd"]


def test_a_run_that_goes_on_has_no_report(client: McpClient) -> None:
    run = answered().start()
    assert client.problem("create_report", {"run_id": run.id})["status"] == 409


def test_a_model_has_the_figures_of_its_runs(client: McpClient) -> None:
    world = World(client)
    run_id, other = DecidedRun(CASES, **FIELDS, definition_id=world.definition_id).completed().id, _other_run()
    for each in (run_id, other):
        assert client.post(f"/v1/runs/{each}/analysis").status == 200
    columns = client.get(f"/v1/runs/{run_id}/analysis").json()["figures"]["columns"]
    found = client.use("get_model_profile", {"model": "sim/bold"})
    (row,) = found["rows"]
    assert (row["runId"], row["meanDecision"]) == (run_id, columns[1]["estimate"]["decision"]["mean"])
    (dimension,) = found["dimensions"]
    assert (dimension["name"], dimension["runs"], dimension["meanEtaSquared"] > 0.5) == ("stakes", 1, True)
    both = client.use("get_model_profile", {"model": "sim/steady"})
    assert {each["runId"] for each in both["rows"]} == {run_id, other}
    of_one = client.use("get_model_profile", {"model": "sim/steady", "definition_id": world.definition_id})
    assert [each["runId"] for each in of_one["rows"]] == [run_id]
    assert client.use("get_model_profile", {"model": "sim/steady", "runs": 1})["rows"][0]["runId"] in (run_id, other)
    assert client.use("get_model_profile", {"model": "sim/none"})["rows"] == []
    problem = client.problem("get_model_profile", {"model": "sim/steady", "definition_id": "def_none"})
    assert (problem["status"], problem["errors"][0]["field"]) == (422, "definition_id")


def _other_run() -> str:
    """Of another definition, with one target."""
    return DecidedRun(CASES[:1], ("sim/steady",), **FIELDS).completed().id
