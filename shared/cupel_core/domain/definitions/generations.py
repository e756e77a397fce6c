from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.domain.definitions.scenarios import ScenarioPage


class GenerationMode(StrEnum):
    MATRIX = "matrix"
    LLM = "llm"


class GenerationStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"


UNFINISHED = frozenset({GenerationStatus.QUEUED, GenerationStatus.RUNNING})


@dataclass(frozen=True)
class Generation:
    """`parts` are the stored objects with the texts written so far, in the order of the combinations."""

    workspace: str
    definition_id: str
    id: str
    mode: GenerationMode
    definition_version: int
    total: int
    created_at: datetime
    updated_at: datetime
    options: LevelOptionChoice = LevelOptionChoice.FIRST
    seed: int = 0
    model: str | None = None
    replace: bool = False
    status: GenerationStatus = GenerationStatus.QUEUED
    parts: tuple[ScenarioPage, ...] = ()
    failed_attempts: int = 0
    error: str | None = None
    max_budget_usd: float | None = None
    """Limits the cost of the calls; None means no limit of its own."""

    @property
    def completed(self) -> int:
        if self.status is GenerationStatus.COMPLETED:
            return self.total
        return sum(part.count for part in self.parts)


_WRITER = """\
You write the cases of an evaluation of language models. You are given a draft, and what the case must express.
Write one natural, self-contained text that a person could have sent. Keep the language of the draft and all its facts.
Make each of the points felt without naming it or its score. Keep word for word what the draft says about the form of
the answer, such as a line to end with. Answer with the text alone."""


class GenerationView(NamedTuple):
    generation: Generation
    account: BudgetAccount = BudgetAccount()
    """Accounts for the generation's own budget; empty without one."""


def request_for(matrix: Matrix, index: int, max_output_tokens: int | None = None) -> ModelRequest:
    """Return the request for the text of one combination; a budget sets aside the cost of `max_output_tokens`."""
    pairs = zip(matrix.content.dimensions, matrix.levels(index), strict=True)
    points = [
        f"- {dimension.name}: {level.label}" + (f" ({level.description})" if level.description else "")
        for dimension, level in pairs
    ]
    parts = ["Draft:", matrix.text(index)]
    if points:
        parts += ["What the case must express:", "\n".join(points)]
    request = ModelRequest((Message(MessageRole.SYSTEM, _WRITER), Message(MessageRole.USER, "\n\n".join(parts))))
    return request if max_output_tokens is None else request.with_parameters(max_output_tokens=max_output_tokens)


@dataclass(frozen=True)
class GenerationSpec:
    """Describes a requested generation; only mode llm uses `model`, and a missing seed is drawn."""

    mode: GenerationMode
    options: LevelOptionChoice = LevelOptionChoice.FIRST
    seed: int | None = None
    model: str | None = None
    replace: bool = False
    allow_unpriced: bool = False
    """A model with an unknown price may be called although there is a budget."""
    max_budget_usd: float | None = None
