from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.barrier import (
    FANOUT,
    InnerNode,
    Leaf,
    Node,
    child_count,
    encode_member,
    leaf_of,
    probe_count,
    root_of,
)

totals = st.one_of(st.integers(1, 250), st.integers(9_990, 10_110), st.integers(999_990, 1_000_000))


@given(totals)
def test_the_root_covers_every_probe_and_no_lower_node_does(total: int) -> None:
    root = root_of(total)
    assert probe_count(root, total) == total
    assert root.level == 0 or FANOUT**root.level < total


@given(totals)
def test_the_children_of_a_node_cover_what_it_covers(total: int) -> None:
    node = root_of(total)
    if node.level:
        children = [Node(node.level - 1, number) for number in range(child_count(node, total))]
        assert sum(probe_count(child, total) for child in children) == total
        assert all(child.parent == node for child in children)


@given(totals, st.data())
def test_an_index_is_in_its_leaf(total: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, total - 1))
    leaf = leaf_of(index)
    assert leaf.first_index <= index < leaf.first_index + leaf.span


@given(st.integers(1, 100), st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)))
def test_a_leaf_is_full_when_every_probe_has_an_outcome(total: int, completed: set[int], failed: set[int]) -> None:
    completed = {offset for offset in completed if offset < total}
    failed = {offset for offset in failed if offset < total} - completed
    leaf = Leaf(frozenset(completed), frozenset(failed))
    assert leaf.is_full(Node(0, 0), total) == (not leaf.missing(range(total)))


@given(st.integers(101, 10_000), st.randoms(use_true_random=False))
def test_a_node_counts_each_child_once_in_any_order_and_with_duplicates(total: int, rng: Random) -> None:
    root = root_of(total)
    failures = {number: rng.randint(0, 100) for number in range(child_count(root, total))}
    reports = [*failures, *rng.choices(list(failures), k=20)]
    rng.shuffle(reports)
    inner = InnerNode()
    for number in reports:
        inner = InnerNode(inner.members | {encode_member(Node(0, number), failures[number])})
    assert inner.is_full(root, total)
    assert inner.failed == sum(failures.values())


def test_a_node_is_not_full_while_a_child_is_missing() -> None:
    root = root_of(250)
    inner = InnerNode(frozenset({encode_member(Node(0, 0), 3), encode_member(Node(0, 2), 0)}))
    assert not inner.is_full(root, 250)
    assert inner.full_children == {0, 2}
