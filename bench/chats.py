"""`python -m bench.chats`: measure waiting times in chats of the local stack, and the cost of operations per probe.

Times are those of a client that follows a turn, against those of the model server on the same machine. The last rows
need no stack: probes of the same evaluation in this process, with and without a profile of three templates.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import httpx
from rich.console import Console
from rich.table import Table

import cupel
from bench.local_server import model_server, use_server
from bench.stored_runs import WORKSPACE, use_stack
from cupel.client import Client
from cupel.in_process import runner
from cupel.json_types import Json
from cupel.stack import emulator
from cupel.stack.paths import find_stack_paths
from cupel_core.base.clock import from_iso, utc_now
from cupel_core.base.ids import new_id, new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.branches import MessageSide, Pointer
from cupel_core.domain.chats.chats import MAX_EXCHANGES
from cupel_core.domain.chats.messages import Exchange, Variant, VariantKind
from cupel_core.domain.conversations.conversation import ConversationState

TURNS = 20
ABORTS = 10
SHORT, LONG = 20, MAX_EXCHANGES - 1
PROBES, ROUNDS = 400, 7
_LATENCY_SECONDS, _WORD_SECONDS = 0.3, 0.05
_STREAMED, _LONG = "word " * 20, "word " * 400
"""The answers take one second, and longer than it takes to abort them."""
_TEMPLATES = [("greeting", "before_main_llm"), ("tone", "before_main_llm"), ("note", "after_main_llm")]


class Row(NamedTuple):
    """Holds seconds or milliseconds, and the limit of the 95th percentile, or of the median without a 95th."""

    name: str
    values: list[float]
    limit: float | None
    unit: str = "ms"

    def cells(self) -> tuple[str, ...]:
        p95 = quantiles(self.values, n=20, method="inclusive")[-1] if len(self.values) > 1 else self.values[0]
        limit = "" if self.limit is None else f"{self.limit:g}"
        verdict = "" if self.limit is None else "within" if p95 <= self.limit else "ABOVE"
        return self.name, self.unit, f"{median(self.values):.2f}", f"{p95:.2f}", limit, verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-stack", action="store_true", help="only the rows that need none")
    console, table = Console(width=140), Table("", "unit", "p50", "p95", "limit of p95", "")
    without_stack = parser.parse_args().without_stack
    running = None if without_stack else emulator.find_running(find_stack_paths(Path.cwd()))
    if running is None and not without_stack:
        sys.exit("the benchmark needs the local stack; start it with: cupel up")
    rows = list(operation_rows())
    if running is not None:
        use_stack(running)
        with Client.from_environment() as client, model_server() as server:
            use_server(client, server)
            rows = [*ChatBench(client, server).rows(), *rows]
    for row in rows:
        table.add_row(*row.cells())
    console.print(table)


class ChatBench:
    def __init__(self, client: Client, server: str) -> None:
        self.client, self.server = client, server

    def rows(self) -> Iterator[Row]:
        self.configure(latencySeconds=0, wordSeconds=0)
        plain = self.client.create_chat({"target": {"model": "custom/bench"}})["id"]
        profiled = self.client.create_chat({"target": {"model": "custom/bench"}, "profileId": self.profile()})["id"]
        for chat_id in (plain, profiled):  # The functions are warm then.
            self.turn(chat_id)
        yield Row("accepted to first operation's call", [self.first_call(profiled) for _ in range(TURNS)], 150)
        self.configure(latencySeconds=_LATENCY_SECONDS, wordSeconds=_WORD_SECONDS, answer=_STREAMED)
        yield Row("provider's first text to reader's", [self.first_text(plain) for _ in range(TURNS)], 500)
        self.configure(answer=_LONG)
        yield Row("abort to end of the turn", [self.aborted(plain) for _ in range(ABORTS)], 1_500)
        self.configure(latencySeconds=0, wordSeconds=0, answer=None)
        yield from self.length_rows()

    def configure(self, **behaviour: Any) -> None:
        httpx.post(f"{self.server}/configure", json={"shortAnswers": True, **behaviour}).raise_for_status()

    def profile(self) -> str:
        params = {"target": {"model": "custom/plan"}, "prompt": "Plan: {{ user.text }}"}
        operation = {"id": "plan", "name": "Plan", "kind": "llm", "hooks": ["before_main_llm"], "order": 1}
        body = {**operation, "params": params, "artifact": {"tag": "plan"}}
        return str(self.client.create_profile({"name": f"bench {time.time_ns()}", "operations": [body]})["id"])

    def turn(self, chat_id: str, on_event: Callable[[Json], None] | None = None) -> Json:
        httpx.post(f"{self.server}/reset").raise_for_status()
        turn = self.client.start_turn(chat_id, {"content": f"question {time.time_ns()}"})
        for event in self.client.follow_turn(chat_id, turn["id"]):
            if on_event is not None:
                on_event(event)
        return turn

    def first_call(self, chat_id: str) -> float:
        accepted = self.turn(chat_id)["createdAt"]
        return 1_000 * (self.first_request_at() - from_iso(accepted).timestamp())

    def first_text(self, chat_id: str) -> float:
        read: list[float] = []
        self.turn(chat_id, lambda event: read.append(time.time()) if event["type"] == "main_llm.delta" else None)
        # The first event of a stream has no text.
        return 1_000 * (read[0] - self.first_request_at() - _LATENCY_SECONDS - _WORD_SECONDS)

    def first_request_at(self) -> float:
        return float(httpx.get(f"{self.server}/counts").json()["firstRequestAt"])

    def aborted(self, chat_id: str) -> float:
        requested: list[float] = []

        def abort_once(event: Json) -> None:
            if event["type"] == "main_llm.delta" and not requested:
                requested.append(time.time())
                self.client.abort_turn(chat_id, turn_id)

        httpx.post(f"{self.server}/reset").raise_for_status()
        turn_id = str(self.client.start_turn(chat_id, {"content": f"question {time.time_ns()}"})["id"])
        for event in self.client.follow_turn(chat_id, turn_id):
            abort_once(event)
        ended = from_iso(self.client.get_turn(chat_id, turn_id)["finishedAt"]).timestamp()
        return 1_000 * (ended - requested[0])

    def length_rows(self) -> Iterator[Row]:
        """Yield rows of alternating lengths, so that the load of the machine affects both."""
        measured: dict[tuple[str, int], list[float]] = {}
        chats = {length: self.chat_of(length) for length in (SHORT, LONG)}
        for _ in range(TURNS):
            for length, chat_id in chats.items():
                for name, seconds in self.requests(chat_id):
                    measured.setdefault((name, length), []).append(1_000 * seconds)
        for name in ("open", "append", "fork"):
            short = quantiles(measured[name, SHORT], n=20, method="inclusive")[-1]
            yield Row(f"{name} a chat of {SHORT} exchanges", measured[name, SHORT], None)
            yield Row(f"{name} one of {LONG + 1:,}: as fast", measured[name, LONG], round(1.3 * short + 5))

    def requests(self, chat_id: str) -> Iterator[tuple[str, float]]:
        started_at = time.perf_counter()
        branch_id = self.client.get_chat(chat_id)["activeBranchId"]
        self.client.list_exchanges(chat_id, branch_id).first(20)
        yield "open", time.perf_counter() - started_at
        started_at = time.perf_counter()
        fork = self.client.create_branch(chat_id, {"fromBranchId": branch_id})["id"]
        yield "fork", time.perf_counter() - started_at
        started_at = time.perf_counter()
        turn = self.client.start_turn(chat_id, {"content": "one more", "branchId": fork})
        yield "append", time.perf_counter() - started_at
        for _ in self.client.follow_turn(chat_id, turn["id"]):
            pass
        self.client.delete_branch(chat_id, fork)

    def chat_of(self, length: int) -> str:
        """Create a chat. Its exchanges are stored without turns, which would take minutes."""
        chat = self.client.create_chat({"target": {"model": "sim/steady"}, "historyLimit": 10})
        from cupel_core.store import chat_branches
        from cupel_core.store.chat_branches import BranchChange

        ref, now = ChatRef(WORKSPACE, chat["id"]), utc_now()
        branch = chat_branches.get(ref, chat["activeBranchId"])
        pointers: tuple[Pointer, ...] = ()
        for number in range(length):
            exchange = Exchange(new_id("ex"), number, answer=(1,), last_answer=1)
            pointers = pointers if branch.last_page is not None else ()
            changed = branch.appending(pointers, Pointer(exchange.id, answer=1), new_short_id())
            said = tuple(
                Variant(exchange.id, side, 1, VariantKind.MAIN, f"{side} {number}", now, branch.id)
                for side in MessageSide
            )
            written = BranchChange(branch, changed.branch, (changed.page_id, changed.pointers), None, exchange, said)
            chat_branches.apply(ref, written, now)
            branch, pointers = replace(changed.branch, revision=branch.revision + 1), changed.pointers
        return str(chat["id"])


def operation_rows() -> Iterator[Row]:
    """Yield the processor time and the checkpoints that three template operations add to a probe."""
    profile = {"name": "templates", "operations": list(_operations())}
    alone, differences, saves = list[float](), list[float](), dict[bool, int]()
    for _ in range(ROUNDS):
        spent = {with_profile: _evaluate(profile if with_profile else None) for with_profile in (False, True)}
        alone.append(1_000 * spent[False].cpu_seconds / PROBES)
        differences.append(1_000 * (spent[True].cpu_seconds - spent[False].cpu_seconds) / PROBES)
        saves = {with_profile: each.saves for with_profile, each in spent.items()}
    yield Row("CPU of a probe without operations", [median(alone)], None)
    yield Row("CPU of three template operations per probe", [median(differences)], 0.3)
    yield Row("their checkpoints per probe", [(saves[True] - saves[False]) / PROBES], 0, "writes")


def _operations() -> Iterator[Json]:
    for number, (name, hook) in enumerate(_TEMPLATES):
        effect = {"type": "prompt.system_update", "mode": "append"}
        yield {
            "id": name,
            "name": name,
            "kind": "template",
            "hooks": [hook],
            "order": number,
            "params": {"template": f"{name}: {{{{ user.text }}}}"},
            "artifact": {"tag": name},
            "effects": [effect] if hook == "before_main_llm" else [],
        }


class _Spent(NamedTuple):
    cpu_seconds: float
    saves: int


def _evaluate(profile: Json | None) -> _Spent:
    saves = []

    class Checkpoints(runner.MemoryCheckpoints):
        async def save(self, state: ConversationState) -> None:
            saves.append(1)
            await super().save(state)

    async def agent(messages: list[dict[str, str]]) -> str:
        return messages[-1]["content"]

    original = runner.MemoryCheckpoints
    setattr(runner, "MemoryCheckpoints", Checkpoints)  # noqa: B010 - counted for the time of the measurement
    try:
        scenarios = [{"name": str(number), "prompt": f"Question {number}?"} for number in range(PROBES)]
        definition = {"content": {"system": "Be brief."}, "scenarios": scenarios}
        started_at = time.process_time()
        cupel.evaluate(definition, agent, profile=profile, progress=False)
        return _Spent(time.process_time() - started_at, len(saves))
    finally:
        setattr(runner, "MemoryCheckpoints", original)  # noqa: B010


if __name__ == "__main__":
    main()
