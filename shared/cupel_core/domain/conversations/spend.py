from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import INLINE, ROW, WRITTEN
from cupel_core.domain.conversations.model_request import Usage


def added_costs(first: float | None, second: float | None) -> float | None:
    """Return None if either cost is unknown."""
    return None if first is None or second is None else first + second


class ModelCalls(NamedTuple):
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: "ModelCalls") -> "ModelCalls":
        return ModelCalls(*(mine + its for mine, its in zip(self, other, strict=True)))


def added_uses(first: Mapping[str, ModelCalls], second: Mapping[str, ModelCalls]) -> Mapping[str, ModelCalls]:
    if not first or not second:
        return first or second
    return {**first, **{model: use.plus(first.get(model, ModelCalls())) for model, use in second.items()}}


@dataclass(frozen=True)
class Spend:
    """Sums the use of models other than the target (judge, simulated user); `cost_usd` is None once any price is
    unknown."""

    calls: Annotated[int, WRITTEN] = 0
    usage: Annotated[Usage, INLINE] = field(default_factory=Usage)
    cost_usd: Annotated[float | None, WRITTEN] = 0.0
    cached_calls: int = 0
    """Number of calls that were answered from a cache; `cost_usd` is the cost of the others. Only evaluations in
    process use a cache."""
    cached_cost_usd: float | None = 0.0
    """The cached answers cost this much when they were made."""
    models: Mapping[str, Annotated[ModelCalls, ROW]] = field(default_factory=dict, compare=False)
    uncertain_usd: float = 0.0
    """Calls that ended without an answer may have cost this much more, as their billing is unknown; `calls` omits
    them."""

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.usage + other.usage,
            added_costs(self.cost_usd, other.cost_usd),
            self.cached_calls + other.cached_calls,
            added_costs(self.cached_cost_usd, other.cached_cost_usd),
            added_uses(self.models, other.models),
            self.uncertain_usd + other.uncertain_usd,
        )

    @property
    def has_calls(self) -> bool:
        """Return whether any call was made, or may have been billed without an answer."""
        return bool(self.calls or self.uncertain_usd)

    @classmethod
    def of_call(cls, model: str, usage: Usage, cost_usd: float | None, *, cached: bool = False) -> "Spend":
        """Return the spend of one answered call; an answer from a cache costs nothing."""
        models = {model: ModelCalls(1, usage.input_tokens, usage.output_tokens)}
        if cached:
            return cls(1, usage, 0.0, cached_calls=1, cached_cost_usd=cost_usd, models=models)
        return cls(1, usage, cost_usd, models=models)
