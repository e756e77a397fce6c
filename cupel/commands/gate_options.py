"""Options for pipelines, applied at the end of a run: a gate, and a JUnit file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cupel.commands.written_files import check_text_file, write_text_file
from cupel.errors import UsageError
from cupel.gates import Gate, pass_rate
from cupel.results import ModelResults
from cupel.session import Session

FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", min=0, max=1, help="Exit with 1 if less than this share of the judged probes passed."),
]
AllowErrors = Annotated[
    int | None,
    typer.Option(
        "--allow-errors",
        min=0,
        help="Exit with 1 if more probes than this errored or could not be scored; default with --fail-under: 0.",
    ),
]
AllowLeftOutChecks = Annotated[
    bool,
    typer.Option(
        "--allow-left-out-checks",
        help="Let the gate pass although an import left out checks that the author of its file wrote.",
    ),
]
WorseThan = Annotated[
    str | None,
    typer.Option(
        "--fail-if-worse-than",
        metavar="RUN",
        help="Exit with 1 if a target is significantly lower than in this run; needs a stack.",
    ),
]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]


@dataclass(frozen=True)
class GateOptions:
    gate: Gate
    junit: Path | None
    worse_than: str | None = None
    """The run that is compared with."""

    @classmethod
    def from_options(
        cls,
        fail_under: float | None,
        allow_errors: int | None,
        junit: Path | None,
        *,
        waits_for_end: bool,
        worse_than: str | None = None,
        allow_left_out_checks: bool = False,
    ) -> "GateOptions":
        """UsageError if options are set although the command does not wait for the end of the run."""
        options = cls(Gate(fail_under, allow_errors, allow_left_out_checks), junit, worse_than)
        needs_end = junit is not None or worse_than is not None or not options.gate.is_unconditional
        if not waits_for_end and needs_end:
            raise UsageError(
                "--fail-under, --allow-errors, --fail-if-worse-than and --junit need the run to end: add --watch"
            )
        if junit is not None:
            check_text_file(junit, "--junit")
        return options

    def apply(
        self,
        session: Session,
        results: Sequence[ModelResults],
        junit: Callable[[], str],
        repair: str | None = None,
        further: Callable[[], Sequence[str]] = tuple,
    ) -> bool:
        """Write the JUnit file, print why gates fail and last one verdict for all of them; return whether they pass.

        `repair` is the command that scores answers which could not be scored; it is named if the gate of the results
        fails. `further` returns the violations of other conditions, after printing what they are about.
        """
        if self.junit is not None:
            write_text_file(self.junit, junit())
            session.remark(f"JUnit XML written to {self.junit}")
        own = self.gate.violations(results)
        if own and repair is not None:
            session.remark(f"{repair} scores the stored answers again")
        violations = [*own, *further()]
        if not self.gate.is_unconditional or self.worse_than is not None:
            rate = pass_rate(results)
            print_verdict(session, violations, "" if rate is None else f", pass rate {rate:.3f}")
        return not violations


def print_verdict(session: Session, violations: Sequence[str], figures: str = "") -> None:
    """Print every violation, and last whether the gates passed."""
    for violation in violations:
        session.remark(f"gate: {violation}")
    session.remark("gate: failed" if violations else f"gate: passed{figures}")
