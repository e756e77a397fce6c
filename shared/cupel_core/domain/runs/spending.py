"""Sums the cost of the model calls of one probe by role. Every paid call is counted, also in errored probes."""

from dataclasses import field, fields

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.role_costs import RoleCost, role_costs

_NOTHING = Spend()


@dataclass(frozen=True)
class Spending:
    """`judge` includes embeddings and selections; `summary` is the judge's decision when the run finishes."""

    target: Spend = field(default_factory=Spend)
    judge: Spend = field(default_factory=Spend)
    persona: Spend = field(default_factory=Spend)
    summary: Spend = field(default_factory=Spend)
    operation: Spend = field(default_factory=Spend)

    @property
    def total(self) -> Spend:
        """Return the sum, whose cost is None if the price of any call is unknown."""
        first, *others = [part for part in self._parts if part != _NOTHING] or [_NOTHING]
        return sum(others, first)

    @property
    def priced_usd(self) -> float:
        return sum(part.cost_usd or 0.0 for part in self._parts)

    @property
    def _parts(self) -> tuple[Spend, ...]:
        return (self.target, self.judge, self.persona, self.summary, self.operation)

    @property
    def by_role(self) -> tuple[RoleCost, ...]:
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        return role_costs({name: (spend.calls, spend.cost_usd) for name, spend in parts.items()})


def conversation_spending(state: ConversationState) -> Spending:
    cost_usd = state.cost_usd if state.target_calls else 0.0
    target = Spend(state.target_calls, state.usage, cost_usd, state.cached_turns, state.cached_cost_usd)
    target += state.unusable
    operation = state.pipeline.spend if state.pipeline else Spend()
    return Spending(target, state.judge_spend, state.persona_spend, operation=operation)
