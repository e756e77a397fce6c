"""Configurations of promptfoo as people write them, after public reports: one folder each."""

from pathlib import Path

CASES = Path(__file__).parent / "promptfoo_cases"
CASE_NAMES = sorted(each.name for each in CASES.iterdir())


def config_path(name: str) -> Path:
    return CASES / name / "promptfooconfig.yaml"
