"""Agents with OpenAI's chat completions API. Each request contains the whole conversation."""

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.resources.connectors import Connector
from cupel_core.providers import openai
from cupel_core.providers.account import Account
from cupel_core.providers.connectors.agent_client import AgentClient, raise_for_status
from cupel_core.providers.connectors.config import OpenAIConfig, parse_config
from cupel_core.providers.http import parse_response


async def complete(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    """Make one attempt at the agent's next message. Parameters of the run override the connector's settings."""
    config = parse_config(OpenAIConfig, connector)
    own = request.parameters
    effective = request.with_parameters(
        temperature=config.temperature if own.temperature is None else own.temperature,
        max_output_tokens=own.max_output_tokens or config.max_tokens,
    )
    wire_request = openai.request_for(Account("connector", connector.base_url), config.model, effective)
    body = {**config.parameters, **wire_request.body}
    response = raise_for_status(await client.send("POST", "/chat/completions", body))
    return parse_response(openai, wire_request, response, utc_now())
