"""How many conversations one worker carries, by its memory and its share of a processor.

The leases on the accounts say how many calls may be made. A worker never opens more conversations than it carries: it
demands no lease for them and receives no messages for them, so that they are left to other workers. Without this rule,
a worker short of memory would be killed with everything that it has in flight, and one short of processor time would
answer late to every reply, which would count as the models' latency.

Workspaces share a worker, and what one of them has started cannot be taken back before its calls end. So a part of the
worker is always left free for the others: a workspace may use `SHARE_OF_FREE` times what nobody uses (dynamic
thresholds; Choudhury and Hahne 1998). Alone it has four fifths, beside one as greedy four ninths, beside two four
thirteenths; a workspace that arrives finds room at once, and nobody needs to know how many there are.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from cupel_core.base.deferred import dataclass

MAX_CALLS = 400
"""Of one worker to one account at the same time. A function may open 1,024 files; connections take most of them."""
MAX_CONVERSATIONS = 500
"""More than calls, because a conversation makes no call while it is judged elsewhere, or waits to retry."""
MIN_CONVERSATIONS = 10
"""Carried whatever the load is: a worker that starts nothing would never learn that it has become idle."""
MIN_OWN_CONVERSATIONS = 5
"""Carried of each workspace whatever the load is: long calls of others may keep a worker above its capacity for long
after its processor has become idle."""
MAX_PENDING = 1_000
"""Probes that a worker receives in advance at most: it renews their claims, and nobody else can start them."""
MIN_RECEIVE = 10
"""No receive for fewer probes: each is billed, and the last slices of a run are small."""

PROCESS_MB = 170.0
"""A worker without conversations, and a helper process for the expressions of users."""
CONVERSATION_MB = 0.4
"""A short conversation until its transcript is stored; 0.3 of it is the buffer of a TLS connection."""
COPIES = 4
"""How often a conversation's text is in memory: messages, request, what is sent of it, and what will be stored."""
IDLE_SHARE = 0.25
"""Of the memory for conversations: the part above which idle scenarios, those of probes without a conversation in
progress, keep a worker from receiving more."""
USABLE_MEMORY = 0.85
"""Share of the memory; the rest is for texts of unusual length and for what the process does not give back."""
MB_PER_PROCESSOR = 1_769
"""A function with this memory has one processor, with less a share of it (AWS Lambda, "Configure memory")."""

SHARE_OF_FREE = 4
"""How many times as much as is left free a workspace may use of a worker."""

_MB = 1_000_000
_BUSY, _IDLE = 0.9, 0.7
"""Shares of the worker's processor time above which it carries less, and below which more."""
_DECREASE, _INCREASE = 0.8, 1.1


class WorkerLoad(NamedTuple):
    """What a worker uses: its part of the processor time that it may use (0 to 1), and its memory."""

    processor: float = 0.0
    memory_mb: float = 0.0


class WorkerUse(NamedTuple):
    """Describes how much of a worker conversations use: those of all workspaces, or of one of them."""

    conversations: int = 0
    mb: float = 0.0

    def plus(self, conversations: int, mb: float) -> "WorkerUse":
        return WorkerUse(self.conversations + conversations, self.mb + mb)


def is_fair(own: float, used: float, total: float) -> bool:
    """Whether a workspace may use `own` of `total` if all workspaces together use `used`."""
    return used <= total and own <= SHARE_OF_FREE * (total - used)


def fair_growth(own: int, used: int, total: int) -> int:
    """How many more conversations a workspace may have that has `own`, if the others do not change what they have."""
    return max(0, MIN_OWN_CONVERSATIONS - own, (SHARE_OF_FREE * (total - used) - own) // (1 + SHARE_OF_FREE))


def processor_share(memory_mb: float) -> float:
    """The processors that a worker with this memory uses at most; its event loop uses no more than one."""
    return min(1.0, memory_mb / MB_PER_PROCESSOR)


def conversation_mb(characters: int) -> float:
    """The memory of a conversation that begins with so many characters."""
    return CONVERSATION_MB + COPIES * characters / _MB


@dataclass(frozen=True)
class WorkerCapacity:
    """What a worker carries. `memory_mb` is that of its function; None if it is not limited."""

    memory_mb: int | None = None
    conversations: int = MAX_CONVERSATIONS
    """At most; follows the worker's load."""

    @property
    def conversations_mb(self) -> float:
        """The memory for conversations."""
        return float("inf") if self.memory_mb is None else max(0.0, USABLE_MEMORY * self.memory_mb - PROCESS_MB)

    @property
    def idle_mb(self) -> float:
        """The size of idle scenarios above which the worker receives no more."""
        return IDLE_SHARE * self.conversations_mb

    def has_room(self, used: WorkerUse, own: WorkerUse, characters: int) -> bool:
        """Whether a workspace's conversation that begins with so many characters may start beside what all workspaces
        use, idle scenarios included, `own` of it this one; beside no other conversation it always may."""
        if not used.conversations:
            return True
        mb = conversation_mb(characters)
        used, own = used.plus(1, mb), own.plus(1, mb)
        is_few = own.conversations <= MIN_OWN_CONVERSATIONS
        is_carried = is_few or is_fair(own.conversations, used.conversations, self.conversations)
        return is_carried and is_fair(own.mb, used.mb, self.conversations_mb)

    def after(self, load: WorkerLoad, open_conversations: int) -> "WorkerCapacity":
        """The capacity after the worker had this load for a while."""
        is_full = self.memory_mb is not None and load.memory_mb > USABLE_MEMORY * self.memory_mb
        if is_full or load.processor > _BUSY:
            fewer = int(min(self.conversations, open_conversations) * _DECREASE)
            return replace(self, conversations=max(MIN_CONVERSATIONS, fewer))
        if load.processor < _IDLE:
            more = max(self.conversations + 1, int(self.conversations * _INCREASE))
            return replace(self, conversations=min(MAX_CONVERSATIONS, more))
        return self


class AccountProbes(NamedTuple):
    """Of one account: the calls that the worker may make at the same time, and its probes that have not started."""

    slots: int
    pending: int
    startable: int
    """Of these, as many as their runs allow to be in progress."""


def probes_to_receive(accounts: Iterable[AccountProbes], conversations: int, expected_slots: int) -> int:
    """How many further probes a worker should receive: enough for every slot to be taken once more.

    Pending probes beyond an account's slots, or beyond what their runs allow, do not count, or a low limit would keep
    the worker from receiving those of other accounts and runs. `expected_slots` are those of an account that the worker
    has no probes of.
    """
    accounts = list(accounts)
    missing = _missing(accounts, conversations, expected_slots)
    slots = min(conversations, sum(account.slots for account in accounts) or expected_slots)
    return missing if missing >= min(MIN_RECEIVE, slots) else 0


def probes_of_use(accounts: Iterable[AccountProbes], conversations: int, expected_slots: int) -> int:
    """How many further probes of one workspace are of use to a worker, however few; `accounts` are the workspace's, and
    `conversations` is how many of it the worker carries."""
    return max(0, _missing(list(accounts), conversations, max(1, expected_slots)))


def _missing(accounts: Collection[AccountProbes], conversations: int, expected_slots: int) -> int:
    accounts = accounts or [AccountProbes(expected_slots, 0, 0)]
    slots = min(conversations, sum(account.slots for account in accounts))
    useful = sum(min(account.slots, account.startable) for account in accounts)
    return min(slots - useful, MAX_PENDING - sum(account.pending for account in accounts))


class SliceSize(NamedTuple):
    probes: int
    scenario_mb: float


def slices_to_receive(probes: int, room_mb: float, recent: Collection[SliceSize]) -> int:
    """How many slices have so many probes, and scenarios that fit into so much memory, judged by the last few slices;
    at least one.

    By the largest of them: a short slice at the end of a leaf says nothing about the next, and too many probes would
    wait in this worker while another one is idle.
    """
    if not recent:
        return 1
    wanted = ceil(probes / max(each.probes for each in recent))
    largest_mb = max(each.scenario_mb for each in recent)
    return wanted if wanted * largest_mb <= room_mb else max(1, int(room_mb / largest_mb))
