"""What the calls of a probe cost, by kind."""

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.spending import Spending, conversation_spending

TARGET, JUDGE = Spend(2, Usage(10, 5), 0.5), Spend(1, Usage(3, 4), 0.25)


def test_the_total_adds_up_all_kinds() -> None:
    assert Spending(TARGET, judge=JUDGE, summary=JUDGE).total == Spend(4, Usage(16, 13), 1.0)


def test_the_total_cost_is_unknown_if_any_price_is() -> None:
    spending = Spending(TARGET, judge=Spend(1, Usage(), None))
    assert (spending.total.cost_usd, spending.priced_usd) == (None, 0.5)


def test_a_conversation_without_an_answer_has_spent_nothing_whatever_the_price() -> None:
    assert conversation_spending(ConversationState((), cost_usd=None)).total == Spend()


def test_what_is_stored_is_read() -> None:
    spending = Spending(TARGET, persona=JUDGE)
    assert decode(Spending, encode(spending)) == spending


def test_nothing_is_stored_of_a_probe_without_calls() -> None:
    assert encode(Spending()) == {}
    assert decode(Spending, {}) == Spending()
