"""Declares the reads of the API that exports and result tables need; `cupel.client.Client` implements them."""

from collections.abc import Iterator
from typing import Protocol

from cupel.json_types import Json


class RunReadingClient(Protocol):
    def get_run_results(self, run_id: str) -> Json: ...

    def list_transcripts(
        self, run_id: str, *, model: str | None = None, prompt_id: str | None = None
    ) -> Iterator[Json]: ...

    def list_rescore_results(
        self, run_id: str, rescore_id: str, *, model: str | None = None, prompt_id: str | None = None
    ) -> Iterator[Json]: ...

    def list_run_probes(
        self, run_id: str, *, status: str | None = None, model: str | None = None, prompt_id: str | None = None
    ) -> Iterator[Json]: ...

    def list_labels(self, run_id: str) -> Iterator[Json]: ...

    def list_scenarios(self, definition_id: str, *, version: int | None = None) -> Iterator[Json]: ...
