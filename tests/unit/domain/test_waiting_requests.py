"""Which requests may wait beside those that do."""

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.waiting import WaitingLimits, WaitingRequest, WaitingRequests

LIMITS = WaitingLimits(per_owner=3, total=10)
NOW = 1_800_000_000.0


def request(number: int, owner: str = "token 1", until: float = NOW + 20) -> WaitingRequest:
    return WaitingRequest(f"r{number}", owner, until)


def entered(*requests: WaitingRequest, now: float = NOW) -> WaitingRequests:
    waiting = WaitingRequests()
    for each in requests:
        waiting = waiting.after_entry(each, LIMITS, now)
    return waiting


def test_the_fourth_request_of_an_owner_does_not_enter() -> None:
    waiting = entered(*(request(number) for number in range(4)))
    assert [each.id for each in waiting.requests] == ["r0", "r1", "r2"]


def test_further_owners_enter_up_to_the_total() -> None:
    waiting = entered(*(request(number, f"token {number % 6}") for number in range(18)))
    assert len(waiting.requests) == 10


def test_a_request_enters_once_another_has_left() -> None:
    waiting = entered(*(request(number) for number in range(3))).after_exit("r1")
    assert request(3).id in waiting.after_entry(request(3), LIMITS, NOW)


def test_a_request_whose_process_died_leaves_with_its_time() -> None:
    waiting = entered(*(request(number) for number in range(3)))
    assert request(3).id not in waiting.after_entry(request(3), LIMITS, NOW + 19.9)
    assert [each.id for each in waiting.after_entry(request(3, until=NOW + 40), LIMITS, NOW + 20).requests] == ["r3"]


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 30), st.booleans()), max_size=60))
def test_there_are_never_more_than_the_limits(steps: list[tuple[int, float, bool]]) -> None:
    waiting, now = WaitingRequests(), NOW
    for number, (owner, seconds, leaves) in enumerate(steps):
        now += seconds / 10
        if leaves and waiting.requests:
            waiting = waiting.after_exit(waiting.requests[0].id)
        waiting = waiting.after_entry(request(number, f"token {owner}", now + seconds), LIMITS, now)
        owners = [each.owner for each in waiting.requests]
        assert len(owners) <= LIMITS.total
        assert all(owners.count(each) <= LIMITS.per_owner for each in owners)
