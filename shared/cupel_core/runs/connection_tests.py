import asyncio

from cupel_core import sandbox
from cupel_core.accounts.keys import load_account
from cupel_core.base import event_loop
from cupel_core.domain.resources.connectors import PROVIDER, ConnectionTestResult
from cupel_core.providers.connectors.connection_test import test_connection as call_agent
from cupel_core.resources import connectors
from cupel_core.runs.ad_hoc_judging import paid_calls
from cupel_core.store.settings import settings

MAX_SECONDS = 20.0
"""API Gateway limits the whole request to 30 s."""


def test_connection(workspace: str, connector_id: str) -> ConnectionTestResult:
    """Send one message to the agent, and report its reply or error. Raise NotFound for an unknown connector, and
    Conflict when the workspace's budgets do not allow the call."""
    connector = connectors.get(workspace, connector_id)

    async def call() -> ConnectionTestResult:
        # Within the loop, whose context outlives the request: otherwise another workspace's limits would count.
        sandbox.use_workspace(workspace)
        account = await asyncio.to_thread(load_account, workspace, PROVIDER)
        async with paid_calls(workspace, leases=None) as attempt:
            allow_private = settings().allow_private_endpoints
            return await call_agent(connector, allow_private, MAX_SECONDS, attempt=attempt, prices=account.prices)

    return event_loop.run(call())
