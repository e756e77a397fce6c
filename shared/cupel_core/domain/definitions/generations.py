"""A generation: scenarios written for a definition, at once from its template or in time by a model."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cupel_core.domain.definitions.matrix import Matrix, Options
from cupel_core.domain.definitions.scenarios import ScenarioPage
from cupel_core.domain.turns.model_request import Conversation, Message, Role


class Mode(StrEnum):
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
    """`parts` are the objects that hold the texts written so far, in the order of the combinations."""

    workspace: str
    definition_id: str
    id: str
    mode: Mode
    definition_version: int
    total: int
    created_at: datetime
    updated_at: datetime
    options: Options = Options.FIRST
    seed: int = 0
    model: str | None = None
    """The model that writes, `provider/name`."""
    replace: bool = False
    """Whether the definition's other scenarios go when these come."""
    status: GenerationStatus = GenerationStatus.QUEUED
    parts: tuple[ScenarioPage, ...] = ()
    setbacks: int = 0
    """How often in a row the model could not go on."""
    error: str | None = None

    @property
    def completed(self) -> int:
        """Combinations whose text is written."""
        if self.status is GenerationStatus.COMPLETED:
            return self.total
        return sum(part.count for part in self.parts)


_WRITER = """\
You write the cases of an evaluation of language models. You are given a draft, and what the case must express.
Write one natural, self-contained text that a person could have sent. Keep the language of the draft and all its facts.
Make each of the points felt without naming it or its score. Keep word for word what the draft says about the form of
the answer, such as a line to end with. Answer with the text alone."""


def request_for(matrix: Matrix, index: int) -> Conversation:
    """Asks a model for the text of a combination."""
    named = zip(matrix.content.dimensions, matrix.levels(index), strict=True)
    points = [
        f"- {dimension.name}: {level.label}" + (f" ({level.description})" if level.description else "")
        for dimension, level in named
    ]
    parts = ["Draft:", matrix.text(index)]
    if points:
        parts += ["What the case must express:", "\n".join(points)]
    return Conversation((Message(Role.SYSTEM, _WRITER), Message(Role.USER, "\n\n".join(parts))))
