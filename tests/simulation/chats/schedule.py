"""One schedule of chats from a seed: people use them under faults, and every turn must end once these stop."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from cupel_core.base.errors import ClientError, NotFound
from cupel_core.chats import branches, catalog, exchanges, turns
from cupel_core.chats.branches import ForkRequest
from cupel_core.chats.exchanges import MessageChange
from cupel_core.chats.turns import TurnRequest
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.domain.pipeline.operations import Trigger
from cupel_core.domain.pipeline.profiles import ProfileHead, ProfileVersion
from cupel_core.store import governor, profiles
from tests.simulation.chats.cloud import ANY_CHAT, ChatCloud, ChatConditions
from tests.simulation.chats.profiles import MODEL, draw_profile
from tests.simulation.chats.reader import Reader
from tests.simulation.chats.rest import WORKSPACE, FinalChecks, is_at_rest
from tests.simulation.faults import Fault
from tests.simulation.harness import clear_caches, simulation
from tests.simulation.invariants import require
from tests.simulation.machines import TaskResult
from tests.simulation.scheduler import Invocation, Violation

_API_SECONDS = 29.0
_MAX_REST_SECONDS = 3_600.0
"""More than anything may take once the faults have stopped, also until a deleted chat is erased."""
_ACTIONS = {
    "send": 6,
    "send twice": 2,
    "send and go": 3,
    "regenerate": 4,
    "edit": 2,
    "hide": 1,
    "delete message": 1,
    "select": 1,
    "fork": 3,
    "abort": 3,
    "reset": 1,
    "read": 1,
    "delete branch": 1,
}
"""What people do, with weights."""
_LONG = " at length" * 1_000


@dataclass(frozen=True)
class ChatResult:
    seed: int
    steps: int
    calls: int
    faults: Counter[Fault]
    endings: Counter[str]
    """Of the turns."""
    seconds: float
    violation: str | None = None


def run_chat_schedule(
    seed: int, trace: Callable[[str], None] | None = None, conditions: ChatConditions = ANY_CHAT
) -> ChatResult:
    """Run the schedule of a seed. Must be called within `harness.install`."""
    clear_caches()
    cloud = ChatCloud(seed, trace, conditions)
    simulation.cloud = cloud
    violation = None
    try:
        schedule = _ChatSchedule(cloud, conditions)
        schedule.start()
        cloud.scheduler.run()
        cloud.table.have_reads_caught_up = True
        FinalChecks(cloud, schedule.sent).run()
    except Exception as error:
        violation = f"{type(error).__name__}: {error}"
        if trace is not None and not isinstance(error, Violation):
            raise
    cloud.faults.counts[Fault.TWICE] = cloud.queues.duplicated_count
    cloud.faults.counts[Fault.EXPIRED] = cloud.queues.expired_count
    scheduler = cloud.scheduler
    return ChatResult(
        seed,
        scheduler.steps,
        cloud.models.call_count,
        +cloud.faults.counts,
        cloud.invariants.endings,
        scheduler.now,
        violation,
    )


class _ChatSchedule:
    def __init__(self, cloud: ChatCloud, conditions: ChatConditions) -> None:
        self._cloud = cloud
        self._scheduler = cloud.scheduler
        self._rng = Random(f"people {cloud.seed}")
        self._conditions = conditions
        self._active_people = 0
        self._numbers = 0
        self.sent: dict[str, str] = {}
        """The text of each accepted message, by the id of its request."""

    def start(self) -> None:
        rng = self._rng
        has_profile = rng.random() < 0.75 if self._conditions.has_profile is None else self._conditions.has_profile
        people = rng.choice((1, 1, 2, 3)) if self._conditions.has_forks is None else 3
        for number in range(rng.choice((1, 1, 2))):
            chat_id = self._create_chat(number, self._create_profile(number) if has_profile else None)
            for person in range(people):
                self._spawn(f"person-{number}-{person}", partial(self._use, chat_id))
            if rng.random() < 0.15:
                self._spawn(f"owner-{number}", partial(self._delete_chat, chat_id))
        administrator = Random(f"administrator {self._cloud.seed}")
        has_pauses = administrator.random() < 0.4
        if self._conditions.has_pauses is not None:
            has_pauses = self._conditions.has_pauses
        if has_pauses:
            self._spawn("administrator", partial(self._control_account, administrator))
        self._scheduler.after(rng.uniform(0, 60), self._cloud.sweep_every_minute)
        self._scheduler.after(rng.choice((20.0, 60.0, 180.0)), self._stop_faults)

    def _create_profile(self, number: int) -> str:
        content, now = draw_profile(self._rng), simulation.now()
        profile_id = f"prof_{number}"
        self._cloud.invariants.profiles[profile_id] = content
        self._scheduler.log(f"{content}")
        head = ProfileHead(profile_id, f"profile {number}", 1, True, now, now)
        profiles.create(WORKSPACE, head, ProfileVersion(1, content, now))
        return profile_id

    def _create_chat(self, number: int, profile_id: str | None) -> str:
        mark = f"chat-{number}"
        settings = ChatSettings(
            {"model": MODEL},
            title=f"{mark} title",
            system=self._rng.choice((None, f"{mark} system")),
            profile_id=profile_id,
            history_limit=self._rng.choice((50, 50, 2)),
        )
        chat = catalog.create(WORKSPACE, settings, "a token", simulation.now())
        self._cloud.invariants.add_chat(chat.id, mark)
        for key, item in list(self._cloud.table.items()):  # Those of the chat, which was unknown until now.
            self._cloud.invariants.observe(key, {}, item)
        self._cloud.invariants.check_writes()
        return chat.id

    # -- people, who send one request after the other and never crash

    def _spawn(self, name: str, work: Callable[[], object]) -> None:
        self._active_people += 1

        def job() -> None:
            work()
            self._active_people -= 1

        self._scheduler.spawn(Invocation(name), job)

    def _use(self, chat_id: str) -> None:
        rng = Random(f"{self._scheduler.current and self._scheduler.current.invocation.name} {self._cloud.seed}")
        pause = rng.choice((0.5, 3.0, 15.0))
        for _ in range(rng.randint(3, 9)):
            action = rng.choices(list(_ACTIONS), list(_ACTIONS.values()))[0]
            if not self._act(chat_id, action, rng):
                return
            self._scheduler.sleep(rng.expovariate(1 / pause))

    def _act(self, chat_id: str, action: str, rng: Random) -> bool:
        """Whether the chat is still there."""
        names = list(self._cloud.invariants.chats[chat_id].branches)
        branch_id = rng.choice(names) if names else None
        if branch_id is None:
            return False
        match action:
            case "send" | "send twice" | "send and go":
                self._send(chat_id, branch_id, rng, copies=2 if action == "send twice" else 1, waits=action == "send")
            case "regenerate":
                self._turn(chat_id, self._turn_request(branch_id, None, rng), rng)
            case "abort":
                self._abort(chat_id, branch_id)
            case "fork":
                self._fork(chat_id, branch_id, rng)
            case "reset":
                self._request(action, lambda: branches.reset_session(WORKSPACE, chat_id, branch_id, simulation.now()))
            case "delete branch":
                self._request(action, lambda: branches.delete(WORKSPACE, chat_id, branch_id, simulation.now()))
            case "read":
                page = lambda: exchanges.list_exchanges(WORKSPACE, chat_id, branch_id, frozenset(), 20, None)  # noqa: E731
                self._request(action, page)
            case _:
                self._change_message(chat_id, branch_id, action, rng)
        return not self._cloud.invariants.chats[chat_id].is_deleted

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _turn_request(self, branch_id: str, content: str | None, rng: Random) -> TurnRequest:
        return TurnRequest(
            trigger=Trigger.REGENERATE if content is None else Trigger.GENERATE,
            content=content,
            branch_id=branch_id,
            profile_id=None,
            has_profile=False,
            client_request_id=f"request {self._number()}",
            deadline_ms=rng.choice((1_000, 30_000, 120_000, 240_000, 240_000)),
            initiator="a token",
        )

    def _send(self, chat_id: str, branch_id: str, rng: Random, *, copies: int, waits: bool) -> None:
        mark = self._cloud.invariants.chats[chat_id].mark
        parity = "even" if rng.random() < 0.5 else "odd"
        content = f"{mark} message {self._number()} {parity}{_LONG if rng.random() < 0.05 else ''}"
        request = self._turn_request(branch_id, content, rng)
        for _ in range(copies - 1):  # The same request at the same time, or another one.
            other = request if rng.random() < 0.5 else self._turn_request(branch_id, f"{content} too", rng)
            self._spawn("twin", partial(self._turn, chat_id, other, rng))
        turn_id = self._turn(chat_id, request, rng)
        if waits and turn_id is not None:
            self._follow(chat_id, turn_id, rng)

    def _turn(self, chat_id: str, request: TurnRequest, rng: Random) -> str | None:
        """Repeat the request until it is accepted, or refused."""
        for _ in range(20):
            start = partial(turns.start, WORKSPACE, chat_id, request, simulation.now())
            result = self._request("turn", start)
            if result.error is None:
                turn_id: str = result.result.turn.id
                known = self._cloud.invariants.turns[turn_id].head.get("clientRequestId")
                require(known == request.client_request_id, f"14: {request} is answered by {turn_id} of {known}")
                if request.content is not None:
                    self.sent[request.client_request_id or ""] = request.content
                return turn_id
            if isinstance(result.cause, ClientError):
                return None
            self._scheduler.sleep(rng.uniform(0.1, 5))
        return None

    def _follow(self, chat_id: str, turn_id: str, rng: Random) -> None:
        """Read a turn's events and text until it is over."""
        reader = Reader(turn_id)
        while not reader.has_all:
            poll = partial(turns.poll, WORKSPACE, chat_id, turn_id, reader.position)
            result = self._request("poll", poll)
            if isinstance(result.cause, NotFound):
                return
            if result.error is None:
                reader.add(result.result)
            self._scheduler.sleep(rng.uniform(0.2, 4))

    def _abort(self, chat_id: str, branch_id: str) -> None:
        branch = self._cloud.invariants.chats[chat_id].branches.get(branch_id)
        if branch is None or branch.open_turn is None:
            return
        turn_id = branch.open_turn
        result = self._request("abort", lambda: turns.abort(WORKSPACE, chat_id, turn_id, simulation.now()))
        if result.error is None:
            self._cloud.invariants.note_abort(turn_id)

    def _fork(self, chat_id: str, branch_id: str, rng: Random) -> None:
        chat = self._cloud.invariants.chats[chat_id]
        path = [pointer.exchange_id for pointer in chat.path(branch_id)]
        after = rng.choice(path) if path and rng.random() < 0.4 else None
        fork = ForkRequest(None, branch_id, after, rng.random() < 0.6, rng.random() < 0.7)
        self._request("fork", lambda: branches.create(WORKSPACE, chat_id, fork, simulation.now()))

    def _change_message(self, chat_id: str, branch_id: str, action: str, rng: Random) -> None:
        chat = self._cloud.invariants.chats[chat_id]
        path = chat.path(branch_id)
        if not path:
            return
        pointer, side = rng.choice(path), rng.choice(("user", "answer"))
        change = {
            "edit": MessageChange(content=f"{chat.mark} edit {self._number()}"),
            "hide": MessageChange(hidden=side not in pointer.hidden),
            "select": MessageChange(selected=rng.randint(1, 3)),
            "delete message": MessageChange(deleted=True),
        }[action]
        name, now = f"{pointer.exchange_id}.{side}", simulation.now()
        self._request(action, lambda: exchanges.update_message(WORKSPACE, chat_id, branch_id, name, change, now))

    def _delete_chat(self, chat_id: str) -> None:
        self._scheduler.sleep(self._rng.uniform(1, 60))
        for _ in range(20):
            result = self._request("delete", lambda: catalog.delete(WORKSPACE, chat_id, simulation.now()))
            if result.error is None or isinstance(result.cause, ClientError):
                return
            self._scheduler.sleep(self._rng.uniform(0.5, 5))

    def _control_account(self, rng: Random) -> None:
        """Pause the account of all models, and resume it."""
        for _ in range(rng.choice((1, 2))):
            self._scheduler.sleep(rng.expovariate(1 / 15))
            for is_paused, seconds in ((True, rng.uniform(5, 60)), (False, 0.0)):
                pause = partial(governor.set_paused, WORKSPACE, "sim", is_paused)
                while self._request("account", pause).error is not None:
                    self._scheduler.sleep(rng.uniform(0.1, 3))
                self._scheduler.sleep(seconds)

    def _request(self, name: str, work: Callable[[], object]) -> TaskResult:
        """Send one request to the API; returns its response or error."""
        ticket, slot = self._scheduler.ticket(), list[TaskResult]()

        def on_end(result: TaskResult) -> None:
            slot.append(result)
            self._scheduler.wake(ticket)

        self._cloud.invoke(f"api-{name}", _API_SECONDS, lambda _: work(), on_end)
        self._scheduler.suspend()
        return slot[0]

    # -- the end

    def _stop_faults(self) -> None:
        self._cloud.faults.have_ended = True
        self._cloud.queues.duplicate_rate = 0.0
        self._scheduler.log("---- faults have stopped ----")
        self._check_at_rest(self._scheduler.now + _MAX_REST_SECONDS)

    def _check_at_rest(self, deadline: float) -> None:
        if not self._active_people and self._cloud.is_quiet() and is_at_rest():
            self._scheduler.end()
            return
        left = [turn.id for turn in self._cloud.invariants.turns.values() if not turn.is_over]
        require(self._scheduler.now < deadline, f"13: does not come to rest; the turns {left} are open")
        self._scheduler.after(5.0, lambda: self._check_at_rest(deadline))
