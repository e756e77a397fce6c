"""Kills every process of a local stack at random moments while it is used, and checks what it had acknowledged.

Where something waits for a time after a kill (a claim, the sweeper's delays), the stored time is moved into the past.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from threading import Event, Thread
from typing import Any

import httpx
import psutil
import pytest

from bench.invariants import violations
from bench.processes import kill_stack
from cupel.client import Client
from cupel.errors import CupelError
from cupel.stack import emulator, lifecycle
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import RunEventType
from cupel_core.store import keys
from tests.eval_api import RATING, TERMINAL, Json, create_definition, wait_until
from tests.stacks import ModelServer, table_of

SCENARIOS = 40
FAILING = "fails"
"""Prompts that contain it fail until they are to be retried."""
PARALLEL = 8
LATENCY_SECONDS = 0.15
SECONDS_UNTIL_KILLED = 30.0
"""Latency of a call that is not answered before the stack is killed."""
MAX_OPEN_RUNS = 2
_DISTANT_PAST = "2020-01-01T00:00:00.000000+00:00"
_NOT_ACKNOWLEDGED = (CupelError, httpx.HTTPError)


@dataclass
class Acknowledged:
    """What the API confirmed, and what it may have done without a chance to confirm it."""

    names: dict[str, str] = field(default_factory=dict)
    """By definition."""
    unanswered_names: dict[str, set[str]] = field(default_factory=dict)
    """By definition: of requests since the last kill that were not answered. They may take effect at any time."""
    runs: set[str] = field(default_factory=set)
    retries: set[str] = field(default_factory=set)
    transcripts: dict[str, Json] = field(default_factory=dict)
    """By id, as read before a kill."""


class Users:
    """Edit definitions, start runs and retry failed probes, one request after another, until they are stopped."""

    def __init__(self, stack: LocalStack, random: Random) -> None:
        self._stack, self._random = stack, random
        self.acknowledged = Acknowledged()
        self.counts: Counter[str] = Counter()
        self.is_retry_allowed = False
        self._sequence = 0
        self._definition_ids: set[str] = set()

    def list_runs(self, api: Client) -> list[Json]:
        """Theirs, including those whose start was not acknowledged."""
        return [run for run in api.list_runs() if run["definitionId"] in self._definition_ids]

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Act in the background for the duration."""
        stopped = Event()
        threads = [Thread(target=self._act, args=(action, stopped)) for action in (self._edit, self._evaluate)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stopped.set()
            for thread in threads:
                thread.join()

    def _act(self, action: Callable[[Client], None], stopped: Event) -> None:
        with Client(self._stack.api_url, self._stack.token, sleep=lambda _: None) as api:
            while not stopped.is_set():
                with suppress(*_NOT_ACKNOWLEDGED):
                    action(api)
                stopped.wait(0.02)

    def _edit(self, api: Client) -> None:
        names, self._sequence = self.acknowledged.names, self._sequence + 1
        name = f"edited {self._sequence}"
        if len(names) < 3 or self._random.random() < 0.2:
            created = api.create_definition({"name": name, "content": RATING})
            names[created["id"]] = name
        else:
            definition_id = self._random.choice(sorted(names))
            unanswered = self.acknowledged.unanswered_names.setdefault(definition_id, set())
            unanswered.add(name)
            api.update_definition(definition_id, {"name": name})
            unanswered.remove(name)
            names[definition_id] = name
        self.counts["edits"] += 1

    def _evaluate(self, api: Client) -> None:
        runs = self.list_runs(api)
        open_runs = [run for run in runs if run["status"] not in TERMINAL]
        if len(open_runs) < MAX_OPEN_RUNS:
            self.start(api)
        for run in open_runs:
            for transcript in api.list_transcripts(run["id"]):
                self.acknowledged.transcripts[transcript["id"]] = _lasting(transcript)
        failed = [run for run in runs if run["status"] == "COMPLETED" and run["progress"]["failed"]]
        if failed and self.is_retry_allowed:
            run_id = self._random.choice(failed)["id"]
            api.retry_run(run_id)
            self.acknowledged.retries.add(run_id)
            self.counts["retries"] += 1

    def start(self, api: Client) -> None:
        """Start a run with a definition of its own."""
        self._sequence += 1
        texts = [f"Question {n} of {self._sequence}{FAILING * (n % 10 == 0)}: rate it." for n in range(SCENARIOS)]
        definition_id = create_definition(api, texts)
        self._definition_ids.add(definition_id)
        specification = {"definitionId": definition_id, "models": [f"custom/bench-{self._sequence}"]}
        self.acknowledged.runs.add(str(api.create_run(specification)["run"]["id"]))
        self.counts["starts"] += 1


def _lasting(transcript: Json) -> Json:
    """What does not change once it is stored; the finishing workflow adds the rest."""
    return {key: transcript[key] for key in ("runId", "probeIndex", "scenarioId", "content", "createdAt")}


class KilledStack:
    """A running stack with a model server, and its users."""

    def __init__(
        self, stack: LocalStack, paths: StackPaths, api: Client, aws: Callable[[str], Any], models: ModelServer
    ) -> None:
        self.stack, self.paths, self.api, self.aws, self.models = stack, paths, api, aws, models
        self.random = Random(1)
        self.users = Users(stack, self.random)
        self.problems: list[str] = []
        self.recoveries: Counter[str] = Counter()
        """What the sweeper did, by its own schedule or invoked from here, as recorded in the runs' events."""
        self._recorded_calls: dict[str, int] = {}

    def prepare(self) -> None:
        self.models.reset()
        fails = {"contains": FAILING, "reply": "an injected fault", "status": 400}
        self.models.configure(latencySeconds=LATENCY_SECONDS, script=[fails])
        settings = {"baseUrl": f"{self.models.url}/v1", "maxParallelRequests": PARALLEL, "enabled": True}
        self.api.update_provider("custom", settings)

    def kill(self, times: int) -> None:
        """Kill the stack in use this often; in the second half, failed probes succeed when they are retried."""
        for number in range(times):
            if number == times // 2:
                self.models.configure(script=[])
                self.users.is_retry_allowed = True
            started_at = time.monotonic()
            self.kill_in_use()
            print(f"kill {number + 1}: {time.monotonic() - started_at:.1f} s", dict(self.users.counts), self.problems)
        self.kill_with_messages_in_flight()
        self.finish()

    def kill_in_use(self) -> None:
        """Use the stack for a random time, kill all of its processes, start it, and check what was acknowledged."""
        calls = self._call_number()
        with self.users.acting():
            if self.random.random() < 0.9:  # The others are killed while their workers start.
                wait_until(lambda: self._call_number() > calls and self._was_used(), seconds=180)
            time.sleep(self.random.uniform(0, 2))
            kill_stack(self.paths)
        emulator.start(self.paths, None)
        self._note_recorded_calls()
        self._check_definitions()
        self._check_transcripts()
        self._recover()
        self._recover()

    def kill_with_messages_in_flight(self) -> None:
        """Start a run and kill the stack while a probe worker waits for a reply: the queue's messages are lost."""
        calls = self._call_number()
        self.models.configure(latencySeconds=SECONDS_UNTIL_KILLED)
        self.users.start(self.api)
        wait_until(lambda: self._call_number() > calls, seconds=180)
        kill_stack(self.paths)
        self.models.configure(latencySeconds=LATENCY_SECONDS)
        emulator.start(self.paths, None)

    def finish(self) -> None:
        """Let every run end, and check it."""
        wait_until(self._recover_until_ended, seconds=300, every=1)
        self.models.configure(script=[])
        for run in self.users.list_runs(self.api):
            if run["progress"]["failed"]:
                self.api.retry_run(run["id"])
        wait_until(self._recover_until_ended, seconds=300, every=1)
        for run_id in sorted(self.users.acknowledged.runs):
            run = self.api.get_run(run_id)
            self.recoveries.update(
                event["data"]["action"]
                for event in self.api.list_run_events(run_id)
                if event["type"] == RunEventType.RECOVERED
            )
            if (run["status"], run["progress"]["completed"]) != ("COMPLETED", SCENARIOS):
                self.problems.append(f"run {run_id} is {run['status']} with {run['progress']}")
            self.problems += [f"run {run_id}: {violation}" for violation in violations(self.api, run)]
        self._check_transcripts()
        self._check_calls()
        assert lifecycle.up(self.paths, None, print).token == self.stack.token

    def _was_used(self) -> bool:
        return all(self.users.counts[each] for each in ("edits", "starts"))

    def _call_number(self) -> int:
        return int(self.models.counts()["requests"])

    def _recover_until_ended(self) -> bool:
        self._recover()
        return all(run["status"] in TERMINAL for run in self.users.list_runs(self.api))

    def _recover(self) -> None:
        make_everything_due(self.aws("dynamodb"), table_of(self.aws))
        response = self.aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
        assert "FunctionError" not in response, response["Payload"].read()

    def _check_definitions(self) -> None:
        acknowledged = self.users.acknowledged
        for definition_id, acknowledged_name in acknowledged.names.items():
            name = self.api.get_definition(definition_id)["name"]
            names = {acknowledged_name} | acknowledged.unanswered_names.get(definition_id, set())
            if name not in names:
                self.problems.append(f"definition {definition_id} is called {name}, not one of {names}")
            acknowledged.names[definition_id] = name
        acknowledged.unanswered_names.clear()

    def _check_transcripts(self) -> None:
        for transcript_id, before in self.users.acknowledged.transcripts.items():
            after = _lasting(self.api.get_transcript(transcript_id))
            if after != before:
                self.problems.append(f"transcript {transcript_id} was {before} and is {after}")

    def _note_recorded_calls(self) -> None:
        """After a kill, no call is in flight: how often each recorded probe was called so far is final."""
        calls = self.models.counts()["prompts"]
        for run in self.users.list_runs(self.api):
            for transcript in self.api.list_transcripts(run["id"]):
                call = _call_of(transcript)
                self._recorded_calls.setdefault(call, _count(calls, call))

    def _check_calls(self) -> None:
        calls = self.models.counts()["prompts"]
        for call, before in self._recorded_calls.items():
            if (after := _count(calls, call)) != before:
                self.problems.append(f"the recorded call {call!r} was made {before} times, and later {after}")


def killed_stack(
    request: pytest.FixtureRequest,
    stack: LocalStack,
    stack_paths: StackPaths,
    api: Client,
    aws: Callable[[str], Any],
    model_server: ModelServer,
) -> KilledStack:
    """A fixture: the stack after it was killed as often as the test module's KILLS says."""
    killed = KilledStack(stack, stack_paths, api, aws, model_server)
    killed.prepare()
    killed.kill(request.module.KILLS)
    print(killed.users.counts, killed.recoveries)
    return killed


def kill_workers(paths: StackPaths, function: str = "probe") -> int:
    """Send SIGKILL to every process of the function in the stack's emulator; returns their number."""
    running = emulator.find_running(paths)
    assert running
    workers = [
        child
        for child in psutil.Process(running.pid).children()
        if any(f"ministack-lambda-cupel-{function}-" in argument for argument in child.cmdline())
    ]
    for child in workers:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    return len(workers)


def make_everything_due(dynamodb: Any, table: str) -> None:
    """Expire the claims of dead workers and the delays after which the sweeper acts, of every open run."""
    for item in query(dynamodb, table, keys.OUTBOX):
        set_attribute(dynamodb, table, item, "touchedAt", {"S": _DISTANT_PAST})
    for item in query(dynamodb, table, keys.ACTIVE_RUNS):
        if "silentSince" in item:
            set_attribute(dynamodb, table, item, "silentSince", {"S": _DISTANT_PAST})
        workspace, _, run_id = item["sk"]["S"].partition("#")
        for leaf in query(dynamodb, table, keys.barrier_nodes(RunRef(workspace, run_id), Node(0, 0), 0)):
            for name in leaf:
                if name.startswith("claim:"):
                    set_attribute(dynamodb, table, leaf, name, {"N": "0"}, ".#until")


def query(dynamodb: Any, table: str, partition: str) -> list[dict[str, Any]]:
    values = {":pk": {"S": partition}}
    items: list[dict[str, Any]] = dynamodb.query(
        TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues=values
    )["Items"]
    return items


def set_attribute(dynamodb: Any, table: str, item: Json, name: str, value: Json, member: str = "") -> None:
    """Set an attribute that the item has."""
    names = {"#name": name} | ({"#until": "until"} if member else {})
    with suppress(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.update_item(
            TableName=table,
            Key={"pk": item["pk"], "sk": item["sk"]},
            UpdateExpression=f"SET #name{member} = :value",
            ConditionExpression="attribute_exists(#name)",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={":value": value},
        )


def _call_of(transcript: Json) -> str:
    question = next(message["content"] for message in transcript["content"]["messages"] if message["role"] == "user")
    return f"{transcript['modelId'].removeprefix('custom/')} {question} #"


def _count(calls: dict[str, int], call: str) -> int:
    return sum(number for key, number in calls.items() if key.startswith(call))
