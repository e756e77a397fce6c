"""Parquet files are read as tables: by `cupel import`, and as the scenarios of a definition file."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow.parquet import write_table
from typer.testing import CliRunner

from cupel import extras
from cupel.cli import app
from cupel.errors import UsageError
from cupel.files import read_definition
from cupel.table_files import table_text
from cupel_core.domain.definitions.datasets import DatasetOptions
from cupel_core.interop.imports.json_documents import InvalidDocument


def parquet(path: Path, **columns: list[Any]) -> Path:
    write_table(pyarrow.table(columns), path)
    return path


def scenarios(path: Path, options: str = "") -> list[dict]:
    (path.parent / "eval.yaml").write_text(f"name: a\nscenarios: {{file: {path.name}{options}}}\n")
    return read_definition(path.parent / "eval.yaml").scenarios or []


def test_the_values_of_a_parquet_file_become_json(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "rows.parquet",
        question=["Q"],
        answer=[["a", "b"]],
        day=[datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC)],
        price=[Decimal("1.50")],
        gap=[float("nan")],
        nested=[{"a": [1, None], "b": b"text"}],
    )
    [scenario] = scenarios(path)
    assert scenario["metadata"]["vars"] == {
        "question": "Q",
        "answer": ["a", "b"],
        "day": "2026-01-02T03:00:00+00:00",
        "price": "1.50",
        "gap": None,
        "nested": {"a": [1, None], "b": "text"},
    }
    assert scenario["assertions"] == [{"type": "icontains-any", "value": ["a", "b"]}]


def test_only_the_rows_that_are_needed_are_read(tmp_path: Path) -> None:
    path = parquet(tmp_path / "rows.parquet", question=[None, *map(str, range(500))])
    assert [each["prompt"] for each in scenarios(path, ", offset: 2, limit: 2")] == ["2", "3"]
    text = table_text(path.read_bytes(), DatasetOptions(offset=2, limit=2))
    assert len(text.splitlines()) == 5


def test_a_parquet_file_is_imported_by_the_command(tmp_path: Path) -> None:
    path = parquet(tmp_path / "rows.parquet", question=["Q", "P"], answer=["A", "B"])
    for source_format in ("parquet", "csv"):
        output = tmp_path / f"{source_format}.yaml"
        result = CliRunner().invoke(app, ["import", source_format, str(path), "--output", str(output)])
        assert result.exit_code == 0, result.stderr
        assert [each["prompt"] for each in read_definition(output).scenarios or []] == ["Q", "P"]


def test_a_row_of_a_parquet_file_is_named(tmp_path: Path) -> None:
    path = parquet(tmp_path / "rows.parquet", question=["Q", None], answer=["A", "B"])
    with pytest.raises(UsageError, match=r"rows\.parquet: sample 2 \(line 2\) has nothing in the column question"):
        scenarios(path)


def test_images_in_a_parquet_file_are_refused_with_their_column(tmp_path: Path) -> None:
    path = parquet(tmp_path / "rows.parquet", question=["Q"], image=[{"bytes": b"\x89PNG\xff", "path": "a.png"}])
    with pytest.raises(UsageError, match="row 1: the column image has binary data"):
        scenarios(path)


def test_columns_of_one_name_and_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_table(pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, names=["question", "question"]), path)
    with pytest.raises(InvalidDocument, match="two columns named question"):
        table_text(path.read_bytes(), DatasetOptions())
    with pytest.raises(InvalidDocument, match="is a damaged Parquet file"):
        table_text(path.read_bytes()[:-20], DatasetOptions())


def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "rows.parquet", question=["Q"])
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r"rows\.parquet: reading a Parquet file needs .*pip install 'cupel\[parquet\]"
    ):
        scenarios(path)
    result = CliRunner().invoke(app, ["import", "parquet", str(path), "--output", str(tmp_path / "a.yaml")])
    assert (result.exit_code, "pip install 'cupel[parquet]" in result.stderr) == (2, True)
