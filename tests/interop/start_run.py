"""Starts a run with the client that is generated from the OpenAPI document. Type-checked together with that client."""

from cupel_client import AuthenticatedClient
from cupel_client.api.definitions import create_definition
from cupel_client.api.runs import create_run, get_run
from cupel_client.api.scenarios import create_scenarios
from cupel_client.models import (
    CreateDefinition,
    CreateRun,
    CreateScenario,
    CreateScenarios,
    Definition,
    DefinitionContent,
    Priority,
    Run,
    RunConfigInput,
    RunStarted,
)


def client_for(api_url: str, token: str) -> AuthenticatedClient:
    """The paths of the document contain `/v1`."""
    return AuthenticatedClient(base_url=api_url, token=token, httpx_args={"trust_env": False})


def start_run(client: AuthenticatedClient) -> RunStarted:
    body = CreateDefinition(name="Generated client", content=DefinitionContent(system="Answer in one word."))
    definition = create_definition.sync(client=client, body=body)
    assert isinstance(definition, Definition), definition
    scenarios = CreateScenarios(items=[CreateScenario(prompt="Hello!")])
    create_scenarios.sync(definition.id, client=client, body=scenarios)
    started = create_run.sync(
        client=client,
        body=CreateRun(
            definition_id=definition.id,
            models=["sim/steady"],
            priority=Priority.HIGH,
            config=RunConfigInput(max_turns=2),
        ),
        idempotency_key="generated-client",
    )
    assert isinstance(started, RunStarted), started
    return started


def read_run(client: AuthenticatedClient, run_id: str) -> Run:
    run = get_run.sync(run_id, client=client)
    assert isinstance(run, Run), run
    return run
