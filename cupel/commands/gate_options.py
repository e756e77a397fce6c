"""What a pipeline wants at the end of a run: a gate, and a file of test results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cupel.errors import CupelError, WrongUse
from cupel.gates import Gate, success_rate
from cupel.results import ModelResults
from cupel.session import Session

FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under", min=0, max=1, help="Exit with 1 when fewer than this share of the judged probes passed."
    ),
]
AllowErrors = Annotated[
    int | None,
    typer.Option("--allow-errors", min=0, help="Exit with 1 when more probes errored; 0 with --fail-under."),
]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]


@dataclass(frozen=True)
class Ending:
    gate: Gate
    junit: Path | None

    @classmethod
    def of(cls, fail_under: float | None, allow_errors: int | None, junit: Path | None, *, ends: bool) -> "Ending":
        """WrongUse where the command does not wait for the end that this is about."""
        ending = cls(Gate(fail_under, allow_errors), junit)
        if not ends and (junit is not None or not ending.gate.is_open):
            raise WrongUse("--fail-under, --allow-errors and --junit are about the end of a run: add --watch")
        return ending

    def conclude(self, session: Session, results: Sequence[ModelResults], junit: Callable[[], str]) -> bool:
        """Writes the file, tells how the gate decided, and answers whether it lets pass."""
        if self.junit is not None:
            write(self.junit, junit())
            session.remark(f"JUnit XML in {self.junit}")
        complaints = self.gate.complaints(results)
        for complaint in complaints:
            session.remark(f"gate: {complaint}")
        if not self.gate.is_open and not complaints:
            rate = success_rate(results)
            session.remark(f"gate: passed{'' if rate is None else f', success rate {rate:.3f}'}")
        return not complaints


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CupelError(f"{path}: {error.strerror or error}") from error
