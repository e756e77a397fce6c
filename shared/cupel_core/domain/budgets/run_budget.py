from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.confirmation import BudgetGuarantee
from cupel_core.domain.budgets.money import limit_text, nano_usd, usd

SHARES = (80, 100)
"""An event is sent when these percentages of a budget are used."""


@dataclass(frozen=True)
class RunBudget:
    max_usd: float
    finish_usd: float = 0.0
    """The amount is set aside for summaries, selections and the report; probes may not use it."""
    allows_unpriced: bool = False
    """Models whose price is unknown may be called; such calls are not limited."""
    announced_percent: int = 0
    """The greatest of SHARES for which there is an event since the limit was last changed."""
    needed_nano_usd: int = 0
    guarantee: BudgetGuarantee = field(kw_only=True)
    """How far the run can exceed the budget, as determined at the start."""
    unlimited_targets: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """Return the limit in billionths of a USD."""
        return nano_usd(self.max_usd)

    @property
    def probe_limit(self) -> int:
        """Return what probes may use, which is at least half of the budget, however much finishing is expected to
        cost."""
        return self.limit - min(nano_usd(self.finish_usd), self.limit // 2)

    def with_limit(self, max_usd: float) -> "RunBudget":
        return replace(self, max_usd=max_usd, announced_percent=0)

    def for_more_probes(self, factor: float) -> "RunBudget":
        return replace(self, finish_usd=self.finish_usd * factor)

    def shortage(self, account: BudgetAccount, needed: int) -> str | None:
        missing = max(1, needed) - account.available(self.probe_limit)
        if missing <= 0:
            return None
        return (
            f"its budget of {limit_text(self.max_usd)} is used up, and the next call needs "
            f"{limit_text(usd(missing))} more; raise maxBudgetUsd"
        )


def used_percent(used: int, limit: int) -> float:
    return round(100 * used / limit, 1)


def due_percent(used: int, limit: int, announced_percent: int) -> int | None:
    reached = [percent for percent in SHARES if 100 * used >= percent * limit]
    return max(reached) if reached and max(reached) > announced_percent else None
