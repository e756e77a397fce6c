from bench.bare_loop import run_loop
from bench.model_server import ModelServer, serving


async def test_a_bare_loop_makes_each_call_once() -> None:
    server = ModelServer()
    async with serving(server) as url:
        time = await run_loop(url, calls=30, parallel=7)
    assert (server.counts.requests, max(server.counts.prompts.values())) == (30, 1)
    assert server.counts.in_flight_peak <= 7
    assert time.seconds > 0
