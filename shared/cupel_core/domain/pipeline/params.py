from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import INLINE, decode, decode_all
from cupel_core.domain.runs.targets import Target


class OutputMode(StrEnum):
    TEXT = "text"
    JSON = "json"


class OutputExtraction(StrEnum):
    """The part of an answer that is read as JSON."""

    RAW = "raw"
    CODE_BLOCK = "code_block"
    PATTERN = "pattern"
    """The first group of a regular expression, or its match, is JSON."""


@dataclass(frozen=True)
class OutputSpec:
    mode: OutputMode = OutputMode.TEXT
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    extract: OutputExtraction | None = None
    """None stands for RAW."""
    pattern: str | None = None

    @property
    def is_list(self) -> bool:
        return self.mode is OutputMode.JSON and self.schema is not None and self.schema.get("type") == "array"


@dataclass(frozen=True)
class TemplateParams:
    template: str
    strict_variables: bool = False
    skip_when_blank: bool = True

    @property
    def call(self) -> None:
        """Return None, because no model is called."""

    @property
    def templates(self) -> dict[str, str]:
        return {"template": self.template}


@dataclass(frozen=True)
class ModelCall:
    target: Target
    prompt: str
    system: str | None = None
    strict_variables: bool = False
    max_input_tokens: int | None = None
    max_cost_usd: float | None = None

    @property
    def templates(self) -> dict[str, str]:
        return {"prompt": self.prompt, **({"system": self.system} if self.system is not None else {})}


@dataclass(frozen=True)
class LlmParams:
    call: Annotated[ModelCall, INLINE]
    output: OutputSpec = OutputSpec()

    @property
    def templates(self) -> dict[str, str]:
        return self.call.templates


class GuardEngine(StrEnum):
    RULES = "rules"
    LLM = "llm"


class GuardErrorPolicy(StrEnum):
    ERROR = "error"
    ALL_FALSE = "all_false"
    """An error counts as an answer with all outputs false."""


@dataclass(frozen=True)
class GuardOutput:
    key: str
    title: str
    description: str | None = None
    when: str | None = None
    """An expression whose truth value counts; only the engine RULES has it."""


@dataclass(frozen=True)
class GuardParams:
    """Answers declared questions with true or false, which are conditions for other operations."""

    engine: GuardEngine
    outputs: tuple[GuardOutput, ...]
    on_error: GuardErrorPolicy = GuardErrorPolicy.ERROR
    strict_variables: bool = False
    call: ModelCall | None = None
    """The engine LLM alone has it."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(output.key for output in self.outputs)

    @property
    def templates(self) -> dict[str, str]:
        return self.call.templates if self.call else {}

    @property
    def expressions(self) -> dict[str, str]:
        numbered = enumerate(self.outputs)
        return {f"outputs.{number}.when": each.when for number, each in numbered if each.when is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        has_call = data.get("target") is not None and data.get("prompt") is not None
        return cls(
            engine=GuardEngine(data["engine"]),
            outputs=decode_all(GuardOutput, data["outputs"]),
            on_error=GuardErrorPolicy(data["onError"]),
            strict_variables=data["strictVariables"],
            call=decode(ModelCall, data) if has_call else None,
        )
