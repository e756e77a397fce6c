import pytest

from bench.http_transport import CLIENTS, measure
from bench.model_server import Behaviour, ModelServer, serving


@pytest.mark.parametrize("name", CLIENTS)
async def test_every_client_is_measured(name: str) -> None:
    server = ModelServer(Behaviour(latency_seconds=0.001))
    async with serving(server) as base_url:
        cost = await measure(CLIENTS[name], f"{base_url}/v1/chat/completions", 20, 5, 0.001)
    assert server.counts.by_status == {"200": 30}
    assert cost.cpu_ms > 0
