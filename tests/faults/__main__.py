"""The fault matrix: every AWS call of every function fails once before and once after its effect, one at a time.

`python -m tests.faults` needs an embedded cloud with a deployed stack. Each workflow
is first run without faults, which lists its calls; then once with each fault. `--only` repeats a single fault.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from cupel.stack.address import read_local
from cupel.stack.paths import StackPaths
from tests.conftest import ROOT
from tests.eval_api import RATING

# tests.conftest removes access to AWS; this adds the embedded cloud.
from tests.faults.cloud import Cloud
from tests.faults.hooks import Call, Fault, Faults, When
from tests.faults.narrative import NARRATOR, REPLY

MAX_CALLS_PER_KIND = 40
"""Calls to fail of a kind that a function repeats, such as receives from empty queues; evenly spread over all."""
MAX_REPEATED_CALLS = 50
"""Model calls that a worker may have to repeat after it was interrupted."""
MAX_REPEATED_NARRATIVES = 1
"""One that was answered, and whose storing was interrupted."""
MAX_REPEATED_CALLS_OF_TURNS = 1
"""The one that was in flight."""
_REPEATED_CALLS = {
    "probe": MAX_REPEATED_CALLS,
    "finish": MAX_REPEATED_CALLS,
    "analyze": MAX_REPEATED_NARRATIVES,
    "turn": MAX_REPEATED_CALLS_OF_TURNS,
}
_VERDICT = {"failureMet": False, "confidence": 1, "reasoning": "by the text"}
_SCRIPT = [
    {"model": "strict", "contains": "go on", "reply": {"successMet": True, **_VERDICT}},
    {"model": "strict", "reply": {"successMet": False, **_VERDICT}},
    {"model": "user", "reply": {"content": "go on"}},
    {"model": "narrator", "reply": REPLY},
    {"model": "tools", "contains": "paid", "reply": "Rating: 3"},
    {"model": "tools", "reply": {"toolCalls": [{"name": "look"}, {"name": "pay", "arguments": {"amount": 7}}]}},
]


class FaultResult(NamedTuple):
    workflow: str
    fault: Fault | None
    violations: list[str]
    extra_calls: int
    seconds: float
    was_injected: bool

    def __str__(self) -> str:
        fault = self.fault or "without a fault"
        verdict = "BROKEN" if self.violations else "ok" if self.was_injected or not self.fault else "missed"
        line = f"{verdict:<7}{self.seconds:5.1f} s {self.extra_calls:+4d} calls  {self.workflow} {fault}"
        return f"{line}: {'; '.join(self.violations)}" if self.violations else line


class FaultMatrix:
    """The resources to run a workflow with a fault."""

    def __init__(self, state: Path, name: str, models: str) -> None:
        stack = read_local(StackPaths(ROOT, state))
        assert stack, f"no stack was started in {state}"
        cloud = Cloud(stack, name)
        cloud.create()
        cloud.install()
        # Imported here, because these modules read the environment.
        from tests.faults.chats import OPERATIONS
        from tests.faults.harness import WORKSPACE, FunctionHarness
        from tests.faults.tool_server import ToolServer
        from tests.faults.workflows import PRICE, RUN_OPERATIONS, WorkflowContext

        self._models = models
        self.faults = Faults()
        harness = FunctionHarness(cloud, self.faults)
        token = _token(WORKSPACE)
        provider = {"baseUrl": f"{models}/v1", "maxParallelRequests": 50, "prices": [PRICE]}
        harness.request(token, "PUT", "/v1/providers/custom", provider)
        decided = {"followUps": ["Why?"], "decision": {"rubric": "1 is no, 5 is yes.", "judgeModel": "custom/judge"}}
        httpx.post(f"{models}/configure", json={"script": _SCRIPT}).raise_for_status()
        harness.request(token, "PUT", "/v1/settings", {"analysisModel": NARRATOR})
        tool_server = ToolServer(cloud, WORKSPACE)
        self.context = WorkflowContext(
            harness=harness,
            token=token,
            large=_definition(harness, token, RATING, 200),
            conversations=_definition(harness, token, decided, 6),
            small=_definition(harness, token, RATING, 8),
            eval_id=_eval(harness, token),
            tools=_definition(harness, token, _tools(harness, token, tool_server.url), 6),
            tool_server=tool_server,
            followed=_definition(harness, token, {"followUps": ["Why?"], **RATING}, 6),
            chat_profile=_profile(harness, token, "chats", OPERATIONS),
            run_profile=_profile(harness, token, "runs", RUN_OPERATIONS),
        )
        self.faults.attach()

    def run(self, name: str, fault: Fault | None) -> FaultResult:
        from tests.faults.chats import FinishedChat, chat_violations
        from tests.faults.checks import budget_violations, violations
        from tests.faults.harness import DEAD_LETTER_QUEUE, QUEUES
        from tests.faults.workflows import WORKFLOWS

        workflow, harness, started_at = WORKFLOWS[name], self.context.harness, time.monotonic()
        harness.purge(*QUEUES, DEAD_LETTER_QUEUE)
        httpx.post(f"{self._models}/reset").raise_for_status()
        tool_server = self.context.tool_server
        tool_server.reset()
        self.faults.arm(fault)
        try:
            finished = workflow.run(self.context)
            if isinstance(finished, FinishedChat):
                violated = chat_violations(finished)
            else:
                violated = violations(finished) + budget_violations(finished, self._bill_usd())
        except AssertionError as failure:
            violated = [str(failure)]
        calls = int(httpx.get(f"{self._models}/counts").json()["requests"])
        extra = calls - workflow.calls
        allowed = 0 if fault is None else _REPEATED_CALLS.get(fault.call.function, 0)
        if not 0 <= extra <= allowed:
            violated.append(f"models were called {calls} times for {workflow.calls} replies")
        executions = tool_server.executions.total()
        if not 0 <= executions - workflow.executions <= allowed:
            violated.append(f"{workflow.executions} calls of tools were executed {executions} times")
        if len(tool_server.executions) != workflow.executions:
            violated.append(f"{len(tool_server.executions)} calls of tools have been executed")
        violated += tool_server.violations
        return FaultResult(name, fault, violated, extra, time.monotonic() - started_at, self.faults.was_injected)

    def _bill_usd(self) -> float:
        """What the model server would bill for all its replies."""
        from tests.faults.workflows import USD_PER_MILLION

        counts = httpx.get(f"{self._models}/counts").json()
        return float(counts["inputTokens"] + counts["outputTokens"]) * USD_PER_MILLION / 1_000_000

    def close(self) -> None:
        from cupel_core.base import event_loop
        from cupel_core.providers import safe_http

        event_loop.run(safe_http.close())

    def faults_for(self, name: str) -> list[Fault]:
        """The faults of a workflow, after it was run without any."""
        from tests.faults.workflows import WORKFLOWS

        calls = [call for call in self.faults.calls() if call.function in WORKFLOWS[name].functions]
        return [Fault(call, when) for call, when in product(_evenly_spread(calls), When)]


def _evenly_spread(calls: list[Call]) -> Iterator[Call]:
    totals = Counter((call.function, call.operation) for call in calls)
    for call in calls:
        step = max(1, totals[call.function, call.operation] / MAX_CALLS_PER_KIND)
        if int((call.number - 1) % step) == 0:
            yield call


def _one_per_kind(faults: list[Fault]) -> list[Fault]:
    """One fault for every kind of call, alternating between before and after."""
    kinds: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        if fault.when == list(When)[len(kinds) % 2]:
            kinds.setdefault((fault.call.function, fault.call.operation), fault)
    return list(kinds.values())


def _token(workspace: str) -> str:
    from cupel_core.base.clock import utc_now
    from cupel_core.domain.access import AccessRole
    from cupel_core.workspace.access import tokens

    return tokens.issue(workspace, AccessRole.ADMIN, "faults", utc_now()).secret


def _definition(harness: Any, token: str, content: dict[str, Any], scenarios: int) -> str:
    created = harness.request(token, "POST", "/v1/definitions", {"name": f"{scenarios} scenarios", "content": content})
    items = [{"prompt": f"Question {n}: rate it."} for n in range(scenarios)]
    harness.request(token, "POST", f"/v1/definitions/{created['id']}/scenarios", {"items": items})
    return str(created["id"])


def _tools(harness: Any, token: str, url: str) -> dict[str, Any]:
    """The content of a definition with two tools: one that a script answers, and one that a server executes."""
    body = {"name": "tools", "type": "tools", "baseUrl": url}
    connector = harness.request(token, "POST", "/v1/connectors", body)["id"]
    params = {"tools": [{"name": "look"}, {"name": "pay"}], "toolConnectorId": connector, "maxToolRounds": 2}
    return {"params": params, "toolResults": [{"name": "look", "result": "seen"}]}


def _profile(harness: Any, token: str, name: str, operations: list[dict[str, Any]]) -> str:
    return str(harness.request(token, "POST", "/v1/profiles", {"name": name, "operations": operations})["id"])


def _eval(harness: Any, token: str) -> str:
    """Three scenarios with two personas each, and a judge who is satisfied with the second answer."""
    personas = [harness.request(token, "POST", "/v1/personas", {"name": name})["id"] for name in ("Ada", "Bob")]
    content = {"name": "judged", "content": {"system": "Be kind."}}
    definition = harness.request(token, "POST", "/v1/definitions", content)
    items = [
        {"prompt": f"Ask {n}", "successCriteria": "the question is answered", "personaIds": personas} for n in range(3)
    ]
    added = harness.request(token, "POST", f"/v1/definitions/{definition['id']}/scenarios", {"items": items})
    body = {"name": "judged", "model": "custom/bench", "scenarioIds": added["ids"]}
    judges = {"judgeModel": "custom/strict", "personaModel": "custom/user"}
    return str(harness.request(token, "POST", "/v1/evals", body | judges)["id"])


@contextmanager
def _model_server() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.model_server", "--latency", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield json.loads(process.stdout.readline() if process.stdout else "")["url"]
        finally:
            process.terminate()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, default=ROOT / ".cupel", help="folder of the stack's files")
    parser.add_argument("--name", default="faults", help="prefix of the resources to create")
    default = ["run", "damaged", "conversation", "tools", "judged", "compared", "deep", "budgeted", "operated", "chat"]
    parser.add_argument("--workflows", nargs="*", default=default)
    parser.add_argument("--only", help="one fault, as printed: 'before probe:DynamoDB.UpdateItem:1'")
    parser.add_argument("--sample", action="store_true", help="one fault of every kind of call")
    parser.add_argument("--part", default="1/1", help="2/3 runs the second third of the faults")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    part, parts = map(int, arguments.part.split("/"))
    results: list[FaultResult] = []
    with _model_server() as models:
        matrix = FaultMatrix(arguments.state, arguments.name, models)
        matrix.run(arguments.workflows[0], None)  # Warm-up, for example of connections.
        for workflow in arguments.workflows:
            for result in _run_workflow(matrix, workflow, arguments, part - 1, parts):
                print(result, flush=True)
                results.append(result)
        matrix.close()
    print(json.dumps(_summary(results)))
    sys.exit(any(result.violations for result in results))


def _run_workflow(
    matrix: FaultMatrix, workflow: str, arguments: argparse.Namespace, part: int, parts: int
) -> Iterator[FaultResult]:
    yield matrix.run(workflow, None)
    faults = matrix.faults_for(workflow)
    if arguments.only:
        faults = [fault for fault in faults if str(fault) == arguments.only]
    if arguments.sample:
        faults = _one_per_kind(faults)
    for fault in faults[part::parts]:
        yield matrix.run(workflow, fault)


def _summary(results: list[FaultResult]) -> dict[str, Any]:
    faults = [result for result in results if result.fault]
    return {
        "faults": len(faults),
        "injected": sum(result.was_injected for result in faults),
        "broken": sum(bool(result.violations) for result in results),
        "kinds": len({(result.fault.call.function, result.fault.call.operation) for result in faults if result.fault}),
        "maxExtraCalls": max((result.extra_calls for result in faults), default=0),
        "seconds": round(sum(result.seconds for result in results)),
    }


if __name__ == "__main__":
    main()
