"""What calls of models have used and cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cupel_core.domain.turns.model_request import Usage


def added_costs(first: float | None, second: float | None) -> float | None:
    """None if either is unknown."""
    return None if first is None or second is None else first + second


@dataclass(frozen=True)
class Spend:
    """Usage of a model other than the target (judge, simulated user); `cost_usd` is None once any price is unknown."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    cached_calls: int = 0
    """How many of the calls were answered from a cache; `cost_usd` is that of the others. Only in process."""
    cached_cost_usd: float | None = 0.0
    """What the cached answers cost when they were made."""

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.usage + other.usage,
            added_costs(self.cost_usd, other.cost_usd),
            self.cached_calls + other.cached_calls,
            added_costs(self.cached_cost_usd, other.cached_cost_usd),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            **self.usage.to_json(),
            "costUsd": self.cost_usd,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spend":
        return cls(data["calls"], Usage.from_json(data), data["costUsd"])
