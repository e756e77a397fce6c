"""Third-party agent servers, each in a separate environment below .cupel/connectors.

LangGraph's development server, with a graph that calls no model; and LiteLLM's proxy, an OpenAI-compatible server, with
fixed answers.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.conftest import ROOT
from tests.installed_servers import installed, serving

GRAPH = ROOT / "tests" / "connectors" / "graph"
KEY = "sk-of-the-test"
LANGGRAPH = ("langgraph-cli[inmem]==0.4.40", "langgraph-api==0.16.7")
LITELLM = ("litellm[proxy]==1.106.2",)
_SILENT = {
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
}
"""Nothing is sent about their use, and no list is fetched."""


@contextmanager
def langgraph_server(folder: Path) -> Iterator[str]:
    """Yields its address. It keeps its threads in `folder`, for as long as it runs."""
    shutil.copytree(GRAPH, folder, dirs_exist_ok=True)
    command = [
        installed("connectors/langgraph", *LANGGRAPH) / "langgraph",
        "dev",
        "--no-browser",
        "--no-reload",
        "--n-jobs-per-worker",
        "10",
    ]
    with serving([*command, "--host", "127.0.0.1"], folder, "/ok", _SILENT) as url:
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
    command = [installed("connectors/litellm", *LITELLM) / "litellm", "--config", "config.yaml", "--host", "127.0.0.1"]
    with serving(command, folder, "/health/liveliness", _SILENT) as url:
        yield url
