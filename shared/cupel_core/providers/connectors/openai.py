"""Agents with OpenAI's chat completions API. Each request contains the whole conversation."""

from pydantic import ValidationError

from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import ModelRequest, Reply
from cupel_core.providers import openai
from cupel_core.providers.account import Account
from cupel_core.providers.connectors.agent_client import AgentClient
from cupel_core.providers.connectors.config import OpenAIConfig, parse_config
from cupel_core.providers.errors import malformed_reply_error


async def complete(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    """Make one attempt at the agent's next message. Parameters of the run override the connector's settings."""
    config = parse_config(OpenAIConfig, connector)
    own = request.parameters
    effective = request.with_parameters(
        temperature=config.temperature if own.temperature is None else own.temperature,
        max_output_tokens=own.max_output_tokens or config.max_tokens,
    )
    wire_request = openai.request_for(Account("connector", connector.base_url), config.model, effective)
    body = await client.post("/chat/completions", {**config.parameters, **wire_request.body})
    try:
        return openai.parse(body)
    except ValidationError as error:
        raise malformed_reply_error(error) from None
