import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from cupel_core.contract.common import RequestModel
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.resources.connectors import SECRET_HEADER, Connector, ConnectorType
from cupel_core.domain.resources.webhooks import read_secret
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.providers.errors import ProviderError

_PARENT = re.compile(r"[/\\](\.|%2e){2}([/\\?#]|$)", re.I)
_RESERVED_PARAMETERS = frozenset({"model", "messages", "stream"})


def _expression(text: str) -> str:
    from cupel_core.providers.connectors.expressions import expression_error

    if error := expression_error(text):
        raise ValueError(error)
    return text


def _path(text: str) -> str:
    if text and not text.startswith("/"):
        raise ValueError("must start with /")
    if _PARENT.search(text):
        raise ValueError("must not contain the segment .. (it would lead out of baseUrl)")
    return text


def _parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    if reserved := sorted(_RESERVED_PARAMETERS & parameters.keys()):
        raise ValueError(f"must not contain {', '.join(reserved)}")
    return parameters


type Name = Annotated[str, Field(min_length=1, max_length=200)]
type Expression = Annotated[str, Field(min_length=1), AfterValidator(_expression)]


class _Config(RequestModel):
    model_config = ConfigDict(strict=True)


class LangGraphConfig(_Config):
    assistant_id: Name = "agent"
    input_key: Name = "messages"
    stateless: bool = False
    """Send the whole conversation on each turn, without a thread on the server."""


class OpenAIConfig(_Config):
    model: Name
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    parameters: Annotated[dict[str, Any], AfterValidator(_parameters), Field(default_factory=dict)]


class HttpConfig(_Config):
    path: Annotated[str, Field(max_length=1000), AfterValidator(_path)] = ""
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    request: Expression
    reply: Expression
    conversation_id: Expression | None = None
    output: Expression | None = None
    error: Expression | None = None


class ToolsConfig(_Config):
    path: Annotated[str, Field(max_length=1000), AfterValidator(_path)] = ""
    timeout_seconds: Annotated[float, Field(ge=1, le=60)] = 30.0


_CONFIGS: dict[ConnectorType, type[_Config]] = {
    ConnectorType.LANGGRAPH: LangGraphConfig,
    ConnectorType.OPENAI: OpenAIConfig,
    ConnectorType.HTTP: HttpConfig,
    ConnectorType.TOOLS: ToolsConfig,
}


def config_errors(kind: ConnectorType, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the field and message of each invalid field. Fields are paths within `config`."""
    try:
        _CONFIGS[kind].model_validate(dict(config))
    except ValidationError as error:
        return [(".".join(map(str, item["loc"])), error_message(item)) for item in error.errors()]
    return []


def secret_errors(kind: ConnectorType, headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the header and message if the secret by which calls of tools are signed is invalid."""
    for name, value in headers.items():
        if kind is ConnectorType.TOOLS and name.lower() == SECRET_HEADER:
            try:
                read_secret(value)
            except ValueError as error:
                return [(name, str(error))]
    return []


def parse_config[T: _Config](model: type[T], connector: Connector) -> T:
    """Parse a connector's config. Raise `ProviderError` if it is invalid, which happens when it was saved before the
    rules became stricter."""
    try:
        return model.model_validate(dict(connector.config))
    except ValidationError as error:
        errors = "; ".join(
            f"config.{field} {message}" for field, message in config_errors(connector.type, connector.config)
        )
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"invalid connector: {errors}", final=True) from error
