"""What a connector's `config` may hold, by its type."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers.errors import ProviderError

_FIXED = frozenset({"model", "messages", "stream"})


def _expression(text: str) -> str:
    from cupel_core.providers.connectors.expressions import expression_complaint

    if complaint := expression_complaint(text):
        raise ValueError(complaint)
    return text


def _path(text: str) -> str:
    if text and not text.startswith("/"):
        raise ValueError("must start with /")
    return text


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(_FIXED & given.keys()):
        raise ValueError(f"may not hold {', '.join(taken)}")
    return given


type Name = Annotated[str, Field(min_length=1, max_length=200)]
type Expression = Annotated[str, Field(min_length=1), AfterValidator(_expression)]


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel, defer_build=True)


class LangGraphConfig(_Config):
    assistant_id: Name = "agent"
    input_key: Name = "messages"
    """Where the graph's state keeps the messages."""
    stateless: bool = False
    """Tells the agent everything each time, and lets it keep no thread."""


class OpenAIConfig(_Config):
    model: Name
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    parameters: Annotated[dict[str, Any], AfterValidator(_parameters)] = {}
    """Whatever else belongs into the request."""


class HttpConfig(_Config):
    path: Annotated[str, Field(max_length=1000), AfterValidator(_path)] = ""
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    request: Expression
    reply: Expression
    conversation_id: Expression | None = None
    output: Expression | None = None
    error: Expression | None = None


_CONFIGS: dict[ConnectorType, type[_Config]] = {
    ConnectorType.LANGGRAPH: LangGraphConfig,
    ConnectorType.OPENAI: OpenAIConfig,
    ConnectorType.HTTP: HttpConfig,
}


def complaints(kind: ConnectorType, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(field, what is wrong with it), for whoever saves a connector. Fields are paths within `config`."""
    try:
        _CONFIGS[kind].model_validate(dict(config))
    except ValidationError as error:
        return [(".".join(map(str, each["loc"])), _message(each["msg"])) for each in error.errors()]
    return []


def read[T: _Config](shape: type[T], connector: Connector) -> T:
    """The config of a connector, which may have been saved before its rules became stricter."""
    try:
        return shape.model_validate(dict(connector.config))
    except ValidationError as error:
        told = "; ".join(f"config.{field} {message}" for field, message in complaints(connector.type, connector.config))
        raise ProviderError(ErrorCode.INVALID_REQUEST, f"the connector: {told}", final=True) from error


def _message(text: str) -> str:
    return text.removeprefix("Value error, ")
