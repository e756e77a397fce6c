"""Limits how many conversations one worker runs, by its memory and its share of a processor.

The leases on the accounts say how many calls may be made. A worker never opens more conversations than its capacity: it
demands no lease and receives no messages for more, so that other workers get them. Without this rule, a worker short of
memory would be killed with everything that it has in flight, and one short of processor time would read every reply
late, which would count as the models' latency.

Workspaces share a worker, and conversations cannot be taken back before their calls end. So a part of the worker is
always left free for other workspaces: a workspace may use `SHARE_OF_FREE` times what nobody uses (dynamic thresholds;
Choudhury and Hahne 1998). Alone it has four fifths, beside one equally greedy workspace four ninths, beside two four
thirteenths; a new workspace finds room at once, and nobody needs to know how many there are.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from cupel_core.base.deferred import dataclass

MAX_CALLS = 400
"""One worker makes at most this many calls to one account at the same time. A function may open 1,024 files, most of
which are connections."""
MAX_CONVERSATIONS = 500
"""There are more conversations than calls, because a conversation makes no call while it is judged elsewhere, or waits
to retry."""
MIN_CONVERSATIONS = 10
"""Number of conversations that run under any load: an idle worker that starts nothing would never learn that it is
idle."""
MIN_OWN_CONVERSATIONS = 5
"""Number of each workspace's conversations that run under any load, because long calls of others may keep a worker
above its capacity long after its processor has become idle."""
MAX_PENDING = 1_000
"""A worker receives at most this many probes in advance: it renews their claims, and no other worker can start them."""
MIN_RECEIVE = 10
"""A worker does not receive fewer probes: each receive is billed, and the last slices of a run are small."""

PROCESS_MB = 170.0
"""A worker without conversations, and a helper process for the expressions of users, need this much memory."""
CONVERSATION_MB = 0.4
"""A short conversation needs this much until its transcript is stored; 0.3 of it is the buffer of a TLS connection."""
COPIES = 4
"""A conversation's text is in memory this often: as messages, request, sent data, and data to store."""
IDLE_SHARE = 0.25
"""A worker receives no more probes while idle scenarios, those without a conversation in progress, take more than this
share of the memory for conversations."""
USABLE_MEMORY = 0.85
"""The share of the memory that is used; the rest is for unusually long texts and for memory that the process does not
release."""
MB_PER_PROCESSOR = 1_769
"""A function with this memory has one processor, with less a share of it (AWS Lambda, "Configure memory")."""

SHARE_OF_FREE = 4
"""A workspace may use this many times as much of a worker as is left free."""

_MB = 1_000_000
_BUSY, _IDLE = 0.9, 0.7
"""The capacity falls above the first share of the worker's processor time, and rises below the second."""
_DECREASE, _INCREASE = 0.8, 1.1


class WorkerLoad(NamedTuple):
    """Measures what a worker uses: its part of the available processor time (0 to 1), and its memory."""

    processor: float = 0.0
    memory_mb: float = 0.0


class WorkerUse(NamedTuple):
    conversations: int = 0
    mb: float = 0.0

    def plus(self, conversations: int, mb: float) -> "WorkerUse":
        return WorkerUse(self.conversations + conversations, self.mb + mb)


def is_fair(own: float, used: float, total: float) -> bool:
    """Return whether a workspace may use `own` of `total` if all workspaces together use `used`."""
    return used <= total and own <= SHARE_OF_FREE * (total - used)


def fair_growth(own: int, used: int, total: int) -> int:
    """Return how many more conversations a workspace with `own` may have if the others do not change theirs."""
    return max(0, MIN_OWN_CONVERSATIONS - own, (SHARE_OF_FREE * (total - used) - own) // (1 + SHARE_OF_FREE))


def processor_share(memory_mb: float) -> float:
    """Return how many processors a worker with this memory uses at most; its event loop uses no more than one."""
    return min(1.0, memory_mb / MB_PER_PROCESSOR)


def conversation_mb(characters: int) -> float:
    return CONVERSATION_MB + COPIES * characters / _MB


@dataclass(frozen=True)
class WorkerCapacity:
    """`memory_mb` is the memory of the worker's function; None if it is not limited."""

    memory_mb: int | None = None
    conversations: int = MAX_CONVERSATIONS
    """The maximum at present, and follows the worker's load."""

    @property
    def conversations_mb(self) -> float:
        return float("inf") if self.memory_mb is None else max(0.0, USABLE_MEMORY * self.memory_mb - PROCESS_MB)

    @property
    def idle_mb(self) -> float:
        return IDLE_SHARE * self.conversations_mb

    def has_room(self, used: WorkerUse, own: WorkerUse, characters: int) -> bool:
        """Return whether a workspace's conversation that begins with this many characters may start.

        `used` is what all workspaces use, including idle scenarios, and `own` the part of this one. If there is no
        other conversation, it may always start.
        """
        if not used.conversations:
            return True
        mb = conversation_mb(characters)
        used, own = used.plus(1, mb), own.plus(1, mb)
        is_few = own.conversations <= MIN_OWN_CONVERSATIONS
        is_carried = is_few or is_fair(own.conversations, used.conversations, self.conversations)
        return is_carried and is_fair(own.mb, used.mb, self.conversations_mb)

    def after(self, load: WorkerLoad, open_conversations: int) -> "WorkerCapacity":
        is_full = self.memory_mb is not None and load.memory_mb > USABLE_MEMORY * self.memory_mb
        if is_full or load.processor > _BUSY:
            fewer = int(min(self.conversations, open_conversations) * _DECREASE)
            return replace(self, conversations=max(MIN_CONVERSATIONS, fewer))
        if load.processor < _IDLE:
            more = max(self.conversations + 1, int(self.conversations * _INCREASE))
            return replace(self, conversations=min(MAX_CONVERSATIONS, more))
        return self


class AccountProbes(NamedTuple):
    """Describes one account: the calls that the worker may make at the same time, and its probes that have not
    started."""

    slots: int
    pending: int
    startable: int
    """Number of the probes that may start without exceeding what their runs allow."""


def probes_to_receive(accounts: Iterable[AccountProbes], conversations: int, expected_slots: int) -> int:
    """Return how many further probes a worker should receive, which is enough to take every slot once more.

    Pending probes beyond an account's slots, or beyond what their runs allow, do not count, or a low limit would keep
    the worker from receiving those of other accounts and runs. `expected_slots` are those of an account of which the
    worker has no probes.
    """
    accounts = list(accounts)
    missing = _missing(accounts, conversations, expected_slots)
    slots = min(conversations, sum(account.slots for account in accounts) or expected_slots)
    return missing if missing >= min(MIN_RECEIVE, slots) else 0


def probes_of_use(accounts: Iterable[AccountProbes], conversations: int, expected_slots: int) -> int:
    """Return how many further probes of one workspace are of use to a worker, however few. `accounts` are the
    workspace's, and `conversations` is the worker's capacity for it."""
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
    """Return how many slices have this many probes, and scenarios that fit into the memory; at least one.

    The largest of the last few slices is the measure: a short slice at the end of a leaf says nothing about the next,
    and too many probes would wait in this worker while another one is idle.
    """
    if not recent:
        return 1
    wanted = ceil(probes / max(each.probes for each in recent))
    largest_mb = max(each.scenario_mb for each in recent)
    return wanted if wanted * largest_mb <= room_mb else max(1, int(room_mb / largest_mb))
