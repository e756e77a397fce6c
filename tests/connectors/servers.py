"""Third-party agent servers, each in a separate environment below .cupel/connectors.

LangGraph's development server, with a graph that calls no model; and LiteLLM's proxy, an OpenAI-compatible server, with
fixed answers: every server that runs a model needs a compiler or gigabytes to install.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import yaml

from tests.conftest import ROOT

GRAPH = ROOT / "tests" / "connectors" / "graph"
KEY = "sk-of-the-test"
LANGGRAPH = ("langgraph-cli[inmem]==0.4.40", "langgraph-api==0.16.7")
LITELLM = ("litellm[proxy]==1.106.2",)
START_SECONDS = 120


@contextmanager
def langgraph_server(folder: Path) -> Iterator[str]:
    """Yields its address. It keeps its threads in `folder`, for as long as it runs."""
    shutil.copytree(GRAPH, folder, dirs_exist_ok=True)
    command = [_installed("langgraph", LANGGRAPH), "dev", "--no-browser", "--no-reload", "--n-jobs-per-worker", "10"]
    with _serving([*command, "--host", "127.0.0.1"], folder, "/ok") as url:
        yield url


@contextmanager
def litellm_server(folder: Path) -> Iterator[str]:
    """Yields its address. The models `broken` and `busy` answer with an error."""
    answers = {"parrot": "A mock answer", "busy": "litellm.RateLimitError", "broken": "litellm.InternalServerError"}
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none", "mock_response": answer}}
        for name, answer in answers.items()
    ]
    config = {"model_list": models, "general_settings": {"master_key": KEY}, "litellm_settings": {"num_retries": 0}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [_installed("litellm", LITELLM), "--config", "config.yaml", "--host", "127.0.0.1"]
    with _serving(command, folder, "/health/liveliness") as url:
        yield url


def _installed(program: str, packages: tuple[str, ...]) -> str:
    """The path of a program; installs its packages first if they are missing or outdated."""
    environment = ROOT / ".cupel" / "connectors" / program
    record = environment / "packages.txt"
    if not record.is_file() or record.read_text() != "\n".join(packages):
        _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(environment))
        _uv("pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), *packages)
        record.write_text("\n".join(packages))
    return str(environment / "bin" / program)


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments], check=True, timeout=600)


@contextmanager
def _serving(command: list[str], folder: Path, health_path: str) -> Iterator[str]:
    port = _free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}{health_path}", process, folder / "server.log")
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"no server at {url}:\n{log.read_text()[-2000:]}")
