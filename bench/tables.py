"""Measures how long tables are read, and with how much memory: 14,042 questions of MMLU's shape, and 100,000 rows of
CSV.

`python -m bench.tables` reads each in a new process, as an import and as the scenarios of a definition in process.
"""

import csv
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

MMLU_ROWS = 14_042
CSV_ROWS = 100_000
_WORDS = ("the", "of", "and", "to", "in", "that", "for", "it", "was", "with", "be", "by", "on", "not", "at", "this")


def main() -> None:
    if len(sys.argv) == 3:
        _measure(sys.argv[1], Path(sys.argv[2]))
        return
    table = Table(title="Reading tables", caption="processor seconds, and the peak of the process's memory")
    for heading in ("file", "rows", "MB", "read by", "s", "MB of memory"):
        table.add_column(heading, justify="left" if heading in ("file", "read by") else "right")
    with TemporaryDirectory() as folder:
        for path, rows in ((_write_mmlu(Path(folder)), MMLU_ROWS), (_write_csv(Path(folder)), CSV_ROWS)):
            for reader in _READERS:
                command = [sys.executable, "-m", "bench.tables", reader, str(path)]
                completed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
                seconds, memory = completed.stdout.split()
                table.add_row(path.name, f"{rows:,}", f"{path.stat().st_size / 1e6:.1f}", reader, seconds, memory)
    Console().print(table)


def _measure(reader: str, path: Path) -> None:
    read = _READERS[reader](path)
    started_at = time.process_time()
    read()
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.process_time() - started_at:.1f} {memory_mb:.0f}")


def _importing(path: Path) -> Callable[[], object]:
    from cupel.scenario_tables import format_of
    from cupel_core.interop.imports.datasets import read_dataset
    from cupel_core.interop.imports.text_files import decode_text

    return lambda: read_dataset(decode_text(path.read_bytes()), format_of(path.name), path.stem)


def _loading(path: Path) -> Callable[[], object]:
    from cupel.in_process.definition import load_definition

    return lambda: load_definition({"scenarios": str(path)})


_READERS = {"import": _importing, "definition": _loading}


def _write_mmlu(folder: Path) -> Path:
    path, rng = folder / "mmlu.jsonl", random.Random(1)  # noqa: S311 - a fixed file
    with path.open("w") as file:
        for number in range(MMLU_ROWS):
            choices = [_text(rng, 8) for _ in range(4)]
            row = {"question": _text(rng, 50), "subject": f"subject {number % 57}", "choices": choices}
            file.write(json.dumps({**row, "answer": rng.randrange(4)}) + "\n")
    return path


def _write_csv(folder: Path) -> Path:
    path, rng = folder / "rows.csv", random.Random(1)  # noqa: S311 - a fixed file
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "answer", "topic"])
        writer.writerows([n, _text(rng, 20), _text(rng, 3), f"topic {n % 9}"] for n in range(CSV_ROWS))
    return path


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(words))


if __name__ == "__main__":
    main()
