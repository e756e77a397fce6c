"""The script of docs/graphql.md that does a whole evaluation."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent.parent / "docs/examples/graphql/evaluate.py"


def load() -> Any:
    spec = spec_from_file_location("evaluate_by_graphql", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
