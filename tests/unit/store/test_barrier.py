from datetime import timedelta
from random import Random

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.claims import Claim, SliceDivision
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Progress
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.store import barrier
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_a")


def tree(total: int = 1_000, retry_round: int = 1) -> Tree:
    return Tree(REF, Plan(plain_targets("sim/steady"), (total,)), retry_round)


def record_all(total: int, failed: set[int]) -> int:
    """Record every index alone and in random order; returns how often the root was reported full."""
    indexes = list(range(total))
    Random(1).shuffle(indexes)
    full = 0
    for index in indexes:
        node = leaf_of(index)
        item = count_outcomes(tree(total), node, {index: index not in failed})
        full += barrier.propagate(tree(total), node, item)
    return full


@pytest.mark.parametrize("total", [1, 100, 101, 230])
def test_the_root_is_full_with_the_last_probe_and_not_before(cloud: Settings, total: int) -> None:
    assert record_all(total, failed=set()) == 1
    assert barrier.is_finished(tree(total))


def test_recording_twice_counts_once(cloud: Settings) -> None:
    for _ in range(2):
        count_outcomes(tree(), Node(0, 0), {1: True, 2: False})
    assert barrier.get_progress(tree(150)) == Progress(150, completed=1, failed=1)


def test_progress_counts_full_leaves_by_their_parent_and_open_ones_by_themselves(cloud: Settings) -> None:
    node = Node(0, 0)
    barrier.propagate(tree(230), node, count_outcomes(tree(), node, {index: index != 7 for index in range(100)}))
    count_outcomes(tree(), Node(0, 1), {100: True, 101: False})
    assert barrier.get_progress(tree(230)) == Progress(230, completed=100, failed=2)


def test_a_state_has_the_time_of_the_latest_outcome(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a leaf that is full, whose time only its parent has, and in one that is not."""
    times, node = [NOW, NOW, NOW + timedelta(seconds=1)], Node(0, 0)
    monkeypatch.setattr(barrier, "utc_now", lambda: times.pop(0))
    assert barrier.get_state(tree(230)).recorded_at is None
    barrier.propagate(tree(230), node, count_outcomes(tree(), node, dict.fromkeys(range(100), True)))
    assert barrier.get_state(tree(230)).recorded_at == NOW
    count_outcomes(tree(), Node(0, 1), {100: True})
    assert barrier.get_state(tree(230)).recorded_at == NOW + timedelta(seconds=1)


def test_progress_of_a_run_of_a_million_counts_over_three_levels(cloud: Settings) -> None:
    count_outcomes(tree(), Node(0, 9_999), {999_999: True})
    count_outcomes(tree(), Node(0, 150), {15_000: False})
    assert barrier.get_progress(tree(1_000_000)) == Progress(1_000_000, completed=1, failed=1)


def test_propagating_again_changes_nothing(cloud: Settings) -> None:
    node = Node(0, 0)
    item = count_outcomes(tree(), node, dict.fromkeys(range(100), True))
    for _ in range(2):
        assert not barrier.propagate(tree(200), node, item)
    assert barrier.get_progress(tree(200)) == Progress(200, completed=100)


def acquire(claimant: str, offsets: set[int], now: float) -> SliceDivision:
    """Claim for ten seconds."""
    claim = Claim(frozenset(offsets), now + 10, now)
    return barrier.acquire(REF, Node(0, 0), claimant, claim, sorted(offsets), now)


def renew(claimant: str, offsets: set[int], until: float) -> bool:
    return barrier.renew(REF, Node(0, 0), claimant, Claim(frozenset(offsets), until, 0.0))


def test_a_claim_is_seen_by_the_next_claimant(cloud: Settings) -> None:
    assert acquire("w1:0", {1, 2}, now=50.0).unclaimed == (1, 2)
    division = acquire("w2:0", {2, 3}, now=55.0)
    assert (division.unclaimed, division.claimed) == ((3,), (2,))


def test_a_renewed_claim_is_seen_by_the_next_claimant(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    assert renew("w1:0", {1}, until=80.0)
    assert acquire("w2:0", {1}, now=70.0).claimed == (1,)


def test_the_claim_of_a_dead_worker_is_expired(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    assert acquire("w2:0", {1}, now=60.0).expired == (1,)


def test_a_claim_that_another_worker_took_over_cannot_be_renewed(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    acquire("w2:0", {1}, now=60.0)
    assert not renew("w1:0", {1}, until=100.0)
    assert acquire("w3:0", {1}, now=65.0).claimed == (1,)


def test_an_expired_claim_of_other_probes_is_not_revoked(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    acquire("w2:0", {2}, now=60.0)
    assert renew("w1:0", {1}, until=100.0)


def test_a_released_claim_cannot_be_renewed(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    count_outcomes(tree(), Node(0, 0), {1: True}, released=["w1:0"])
    assert not renew("w1:0", {1}, until=100.0)
    assert barrier.get_leaf(REF, Node(0, 0)).claims == {}


def test_the_outcomes_of_a_revoked_claim_are_looked_up_by_every_later_claimant(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    acquire("w2:0", {1}, now=60.0)
    count_outcomes(tree(), Node(0, 0), {}, released=["w2:0"])
    assert acquire("w3:0", {1}, now=65.0).expired == (1,)


def test_recording_releases_claims_in_the_same_write(cloud: Settings) -> None:
    acquire("w1:0", {1}, now=50.0)
    count_outcomes(tree(), Node(0, 0), {1: True}, released=["w1:0"])
    assert barrier.get_leaf(REF, Node(0, 0)).claims == {}


def test_a_run_of_another_workspace_has_its_own_barrier(cloud: Settings) -> None:
    count_outcomes(tree(), Node(0, 0), {0: True})
    assert barrier.get_progress(tree(1)._replace(ref=RunRef("ws_b", "run_a"))) == Progress(1)


def test_a_reopened_leaf_takes_its_errors_out_once_per_retry_round(cloud: Settings) -> None:
    count_outcomes(tree(), Node(0, 0), {0: True, 1: False, 2: False})
    assert barrier.reopen(tree(retry_round=3), Node(0, 0), [1]).leaf.failed == {2}
    count_outcomes(tree(retry_round=3), Node(0, 0), {1: False})
    assert barrier.reopen(tree(retry_round=3), Node(0, 0), [1]).leaf.failed == {1, 2}


def test_a_worker_of_an_earlier_retry_round_adds_nothing_to_a_reopened_leaf(cloud: Settings) -> None:
    count_outcomes(tree(), Node(0, 0), {1: False})
    barrier.reopen(tree(retry_round=2), Node(0, 0), [1])
    assert count_outcomes(tree(retry_round=1), Node(0, 0), {1: False}).leaf.recorded == frozenset()


def test_full_leaves_are_reported_anew_in_a_new_retry_round(cloud: Settings) -> None:
    node = Node(0, 0)
    item = count_outcomes(tree(101), node, dict.fromkeys(range(100), True))
    barrier.propagate(tree(101), node, item)
    assert barrier.get_inner(tree(101, retry_round=2), Node(1, 0)).full_children == frozenset()
    assert barrier.get_progress(tree(101, retry_round=2)) == Progress(101, completed=100)


@pytest.mark.parametrize("total", [90, 230, 12_345])
def test_recorded_probes_are_counted_in_any_range(cloud: Settings, total: int) -> None:
    """Full leaves by their parents, the others by themselves."""
    recorded = set(range(120)) | {200, 229, 10_000, 12_344}
    for first in sorted({index // 100 * 100 for index in recorded if index < total}):
        node = leaf_of(first)
        outcomes = {index: index % 7 != 0 for index in recorded if leaf_of(index) == node and index < total}
        barrier.propagate(tree(total), node, count_outcomes(tree(total), node, outcomes))
    for indexes in (range(total), range(50, 60), range(99, 221), range(10_000, total), range(0)):
        expected = sum(index in indexes for index in recorded if index < total)
        assert barrier.count_recorded(tree(total), indexes) == expected
