from random import Random

import pytest

from shared.domain.barrier import Node, leaf_of
from shared.domain.claims import Claim
from shared.domain.runs import Progress
from shared.messages import RunRef
from shared.settings import Settings
from shared.store import barrier

REF = RunRef("ws_a", "run_a")


def record_all(total: int, failed: set[int]) -> int:
    """Records every index alone and in random order; how often the root was told full."""
    indexes = list(range(total))
    Random(1).shuffle(indexes)
    full = 0
    for index in indexes:
        node = leaf_of(index)
        leaf = barrier.record(REF, node, {index: index not in failed})
        full += barrier.propagate(REF, total, node, leaf)
    return full


@pytest.mark.parametrize("total", [1, 100, 101, 230])
def test_the_root_is_full_with_the_last_probe_and_not_before(cloud: Settings, total: int) -> None:
    assert record_all(total, failed=set()) == 1
    assert barrier.is_finished(REF, total)


def test_recording_twice_counts_once(cloud: Settings) -> None:
    for _ in range(2):
        barrier.record(REF, Node(0, 0), {1: True, 2: False})
    assert barrier.progress(REF, 150) == Progress(150, completed=1, failed=1)


def test_progress_counts_full_leaves_by_their_parent_and_open_ones_by_themselves(cloud: Settings) -> None:
    node = Node(0, 0)
    barrier.propagate(REF, 230, node, barrier.record(REF, node, {index: index != 7 for index in range(100)}))
    barrier.record(REF, Node(0, 1), {100: True, 101: False})
    assert barrier.progress(REF, 230) == Progress(230, completed=100, failed=2)


def test_progress_of_a_run_of_a_million_counts_over_three_levels(cloud: Settings) -> None:
    barrier.record(REF, Node(0, 9_999), {999_999: True})
    barrier.record(REF, Node(0, 150), {15_000: False})
    assert barrier.progress(REF, 1_000_000) == Progress(1_000_000, completed=1, failed=1)


def test_propagating_again_changes_nothing(cloud: Settings) -> None:
    node = Node(0, 0)
    leaf = barrier.record(REF, node, dict.fromkeys(range(100), True))
    for _ in range(2):
        assert not barrier.propagate(REF, 200, node, leaf)
    assert barrier.progress(REF, 200) == Progress(200, completed=100)


def test_a_claim_is_seen_by_who_claims_after(cloud: Settings) -> None:
    mine = Claim(frozenset({1, 2}), until=50.0)
    barrier.claim(REF, Node(0, 0), "w1:0", mine)
    item = barrier.claim(REF, Node(0, 0), "w2:0", Claim(frozenset({2}), until=60.0))
    assert item.others("w2:0") == [mine]


def test_recording_releases_claims_in_the_same_write(cloud: Settings) -> None:
    barrier.claim(REF, Node(0, 0), "w1:0", Claim(frozenset({1}), until=50.0))
    barrier.record(REF, Node(0, 0), {1: True}, released=["w1:0"])
    assert barrier.leaf(REF, Node(0, 0)).claims == {}


def test_a_run_of_another_workspace_has_its_own_barrier(cloud: Settings) -> None:
    barrier.record(REF, Node(0, 0), {0: True})
    assert barrier.progress(RunRef("ws_b", "run_a"), 1) == Progress(1)
