import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cupel.client import Client

ROOT = Path(__file__).parent.parent


@contextmanager
def model_server(*options: str) -> Iterator[str]:
    """Run `python -m bench.model_server` with these options, and yield its URL."""
    command = [sys.executable, "-m", "bench.model_server", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603 - our own
        try:
            yield str(json.loads(process.stdout.readline() if process.stdout else "")["url"])
        finally:
            process.terminate()


def use_server(client: Client, url: str, parallel: int = 50, **settings: Any) -> None:
    """Make this server the provider `custom`. Its key is deleted: a stored one belongs to another address."""
    account = {"baseUrl": f"{url}/v1", "apiKey": None, "maxParallelRequests": parallel, "enabled": True}
    client.update_provider("custom", {**account, **settings})
