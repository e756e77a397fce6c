"""Which page of a leaf has the outcome of a probe."""

from dataclasses import replace

from cupel_core.domain.runs.barrier import FANOUT, Leaf
from cupel_core.domain.runs.leaf_log import LogEntry, LoggedOutcome, OutcomePage, Reopening, resolve
from cupel_core.domain.runs.run_spend import Cost, cost_by_place

CENT = Cost(10_000_000)


def page(name: str, token: int = 1, *, completed: tuple[int, ...] = (), errored: tuple[int, ...] = ()) -> OutcomePage:
    """Each outcome is another one than those of other pages."""
    outcomes = {offset: LoggedOutcome(True, CENT, ord(name[0])) for offset in completed}
    return OutcomePage(name, token, outcomes | {offset: LoggedOutcome(False, CENT, ord(name[0])) for offset in errored})


def leaf(*log: LogEntry) -> Leaf:
    return resolve(log).leaf()


def page_of(offset: int, *log: LogEntry) -> str:
    return resolve(log).places[offset].page_id


def test_the_first_outcome_of_a_probe_counts() -> None:
    log = page("a", completed=(1,), errored=(2,)), page("b", completed=(2, 3), errored=(1,))
    assert leaf(*log) == Leaf(frozenset({1, 3}), frozenset({2}))
    assert [page_of(offset, *log) for offset in (1, 2, 3)] == ["a", "a", "b"]


def test_an_outcome_that_comes_later_is_lost_with_its_cost() -> None:
    content = resolve([page("a", completed=(1,)), page("b", completed=(1, 2))])
    assert content.lost == CENT
    assert cost_by_place(content.costs) == {FANOUT + 1: CENT, FANOUT + 2: CENT}


def test_a_page_that_is_added_twice_counts_once() -> None:
    once = page("a", completed=(1,))
    assert resolve([once, once]) == resolve([once])


def test_an_outcome_that_is_stored_again_in_another_page_is_not_lost() -> None:
    first, second = (OutcomePage(name, 1, {1: LoggedOutcome(True, CENT, identity=5)}) for name in "ab")
    other = OutcomePage("c", 1, {1: LoggedOutcome(True, CENT, identity=6)})
    assert resolve([first, second]).lost == Cost()
    assert resolve([first, other, replace(other, id="d")]).lost == CENT


def test_an_error_that_was_taken_out_does_not_count() -> None:
    assert leaf(page("a", errored=(1, 2)), Reopening(2, frozenset({1}))) == Leaf(failed=frozenset({2}))


def test_an_error_that_was_taken_out_can_still_be_read() -> None:
    assert page_of(1, page("a", errored=(1,)), Reopening(2, frozenset({1}))) == "a"


def test_an_error_that_was_taken_out_gives_way_to_the_outcome_of_the_retry() -> None:
    log = page("a", errored=(1, 2)), Reopening(2, frozenset({1, 2})), page("b", 2, completed=(1,), errored=(2,))
    assert leaf(*log) == Leaf(frozenset({1}), frozenset({2}))
    assert [page_of(offset, *log) for offset in (1, 2)] == ["b", "b"]


def test_both_errors_of_a_retried_probe_are_paid() -> None:
    content = resolve([page("a", errored=(1,)), Reopening(2, frozenset({1})), page("b", 2, errored=(1,))])
    assert cost_by_place(content.costs) == {FANOUT + 1: CENT, 2 * FANOUT + 1: CENT}


def test_an_error_that_was_not_taken_out_does_not_give_way() -> None:
    assert leaf(page("a", errored=(1,)), Reopening(2), page("b", 2, completed=(1,))) == Leaf(failed=frozenset({1}))


def test_a_transcript_does_not_give_way() -> None:
    log = page("a", completed=(1,)), Reopening(2, frozenset({1})), page("b", 2, completed=(1,))
    assert page_of(1, *log) == "a"


def test_an_error_of_a_worker_that_missed_a_retry_does_not_count() -> None:
    log = Reopening(3), page("late", 2, errored=(1,), completed=(2,))
    assert leaf(*log) == Leaf(completed=frozenset({2}))
    assert leaf(*log, page("b", 3, completed=(1,))) == Leaf(completed=frozenset({1, 2}))


def test_an_error_of_a_worker_that_missed_a_retry_is_lost_with_its_cost() -> None:
    content = resolve([Reopening(3), page("late", 2, errored=(1,), completed=(2,))])
    assert content.lost == CENT
    assert cost_by_place(content.costs) == {2 * FANOUT + 2: CENT}
    assert content.places.keys() == {2}


def test_an_error_of_a_worker_that_missed_a_retry_does_not_replace_another() -> None:
    log = page("a", errored=(1,)), Reopening(3, frozenset({1})), page("late", 2, errored=(1,))
    assert leaf(*log) == Leaf()
    assert page_of(1, *log) == "a"


def test_the_last_round_in_which_an_error_was_taken_out_is_known() -> None:
    log = Reopening(2, frozenset({1, 2})), Reopening(4, frozenset({2}))
    assert resolve(log).rounds == {1: 2, 2: 4}


def test_a_page_that_is_found_after_its_outcome_was_replaced_is_not_lost() -> None:
    stored_again = OutcomePage("b", 1, {1: LoggedOutcome(False, CENT, identity=5)})
    log = [stored_again, Reopening(2, frozenset({1})), page("c", 2, completed=(1,)), replace(stored_again, id="a")]
    assert resolve(log).lost == Cost()
