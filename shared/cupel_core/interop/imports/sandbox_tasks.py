"""Runs the reading of imports as tasks of the sandbox, since YAML, templates and path patterns can take any time."""

from typing import Any

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetOptions, DatasetScorer
from cupel_core.interop.imports import datasets
from cupel_core.interop.imports.files import InMemoryFiles
from cupel_core.interop.imports.recognition import promptfoo_configuration


def read_promptfoo(config: str, files: dict[str, str], uploads: dict[str, str]) -> Any:
    from cupel_core.interop.imports.admission import admit
    from cupel_core.interop.imports.promptfoo import read_config

    return encode(admit(read_config(promptfoo_configuration(config), InMemoryFiles(files, uploads))))


def read_samples(
    text: str, kind: str, name: str, scorer: str | None, options: dict[str, Any], uploads: dict[str, str]
) -> Any:
    from cupel_core.interop.imports.admission import require_admission

    files, comparison = InMemoryFiles({}, uploads), DatasetScorer(scorer) if scorer else None
    chosen = decode(DatasetOptions, options)
    return encode(require_admission(datasets.read_dataset(text, DatasetFormat(kind), name, comparison, files, chosen)))
