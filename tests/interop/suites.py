"""The configuration that promptfoo and Cupel both evaluate."""

from pathlib import Path

SUITE = Path(__file__).parent / "suite" / "promptfooconfig.yaml"
