"""Defines options for CI pipelines, which apply at the end of a run: a gate, and a JUnit file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from cupel.commands.written_files import check_text_file, write_text_file
from cupel.comparing import ComparisonGate, FailIf
from cupel.errors import UsageError
from cupel.gates import CalibratedGate, ErrorsAs, Gate
from cupel.json_types import Json, without_none
from cupel.results import ModelResults
from cupel.session import Session
from cupel_core.domain.analysis.comparison_requests import MAX_ALPHA, MIN_ALPHA
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.text.figures import format_percent

FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", min=0, max=1, help="Exit with 1 if the pass rate of a target is lower."),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        min=0.5,
        max=0.999,
        help="Confidence with which a rate must be below --fail-under.",
    ),
]
Calibrated = Annotated[
    bool,
    typer.Option(
        "--calibrated",
        help="Use pass rates that people's labels correct.",
    ),
]
AllowErrors = Annotated[
    int | None,
    typer.Option(
        "--allow-errors",
        min=0,
        help="Exit with 1 if more conversations errored or have no score; 0 with --fail-under.",
    ),
]
AllowLeftOutChecks = Annotated[
    bool,
    typer.Option(
        "--allow-left-out-checks",
        help="Pass although an import left out checks.",
    ),
]
WorseThan = Annotated[
    str | None,
    typer.Option(
        "--fail-if-worse-than",
        metavar="RUN",
        help="Exit with 1 if a target is significantly worse than in this run.",
    ),
]
NotWorseThan = Annotated[
    str | None,
    typer.Option(
        "--not-worse-than",
        metavar="RUN",
        help="Exit with 1 unless all targets are shown to be worse by less than --margin.",
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(min=0.0001, help="Smaller differences do not matter; default: 0.25 points, 0.05 for rates."),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        min=MIN_ALPHA,
        max=MAX_ALPHA,
        help="How often equal runs may be called different.",
    ),
]
AllowInconclusive = Annotated[
    bool,
    typer.Option("--allow-inconclusive", help="Pass although scenarios are too few to tell."),
]
ErrorsAsOption = Annotated[
    ErrorsAs,
    typer.Option(
        "--errors-as",
        case_sensitive=False,
        help="Whether gates leave out errored conversations or count them as failures.",
    ),
]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]


@dataclass(frozen=True)
class Baseline:
    run_id: str
    is_margin_tested: bool = False
    """If set, the run must be shown to be lower by less than the margin. Otherwise it must not be shown to be lower."""
    margin: float | None = None
    alpha: float | None = None
    allow_inconclusive: bool = False
    errors_as: ErrorsAs = ErrorsAs.MISSING

    @classmethod
    def from_options(
        cls,
        worse_than: str | None,
        not_worse_than: str | None,
        margin: float | None,
        alpha: float | None,
        *,
        allow_inconclusive: bool,
        errors_as: ErrorsAs,
    ) -> "Baseline | None":
        run_id = worse_than or not_worse_than
        if worse_than and not_worse_than:
            raise UsageError("--not-worse-than: cannot be combined with --fail-if-worse-than")
        if run_id is None:
            given = {"--margin": margin, "--alpha": alpha, "--allow-inconclusive": allow_inconclusive or None}
            unused = [name for name, value in given.items() if value is not None]
            if unused:
                raise UsageError(f"{unused[0]}: needs --fail-if-worse-than or --not-worse-than")
            return None
        return cls(run_id, not_worse_than is not None, margin, alpha, allow_inconclusive, errors_as)

    @property
    def option(self) -> str:
        return "--not-worse-than" if self.is_margin_tested else "--fail-if-worse-than"

    def request(self, run_id: str) -> Json:
        metric = Metric.PASS_RATE_ERRORS_FAIL if self.errors_as is ErrorsAs.FAIL else None
        levels = without_none(metric=metric, margin=self.margin, alpha=self.alpha)
        return {"baseline": {"runId": self.run_id}, "comparison": {"runId": run_id}, **levels}

    def gate(self, figures: Json) -> ComparisonGate:
        if self.is_margin_tested:
            return ComparisonGate(frozenset(), figures["margin"], self.allow_inconclusive)
        return ComparisonGate(frozenset({FailIf.LOWER}), None, self.allow_inconclusive)


@dataclass(frozen=True)
class GateOptions:
    gate: Gate
    junit: Path | None
    baseline: Baseline | None
    calibrated: CalibratedGate | None = None

    def check_waits_for_end(self, is_waiting: bool) -> None:
        if (self.junit is not None or self.has_condition) and not is_waiting:
            raise UsageError(
                "--fail-under, --allow-errors, --fail-if-worse-than, --not-worse-than and --junit need the run to end: "
                "add --watch"
            )

    @property
    def has_condition(self) -> bool:
        return self.baseline is not None or self.calibrated is not None or not self.gate.is_unconditional

    def check_without_stack(self) -> None:
        """Raise UsageError for a condition that only a stack can check."""
        if self.baseline is not None:
            raise UsageError(f"{self.baseline.option}: needs a stack, which stores the run to compare with")
        if self.calibrated is not None:
            raise UsageError("--calibrated: needs a stack, which stores the labels")

    def apply(
        self,
        session: Session,
        results: Sequence[ModelResults],
        junit: Callable[[], str],
        repair: str | None = None,
        further: Callable[[], Sequence[str]] = tuple,
    ) -> bool:
        """Write the JUnit file, print each violated gate and then one verdict for all; return whether they pass.

        `repair` is the command that scores answers which could not be scored; it is named if the gate of the results
        fails. `further` prints the basis of other conditions and returns their violations.
        """
        if self.junit is not None:
            write_text_file(self.junit, junit())
            session.remark(f"JUnit XML written to {self.junit}")
        own = self.gate.violations(results)
        if own and repair is not None:
            session.remark(f"{repair} scores the stored answers again")
        violations = [*own, *further()]
        if self.has_condition:
            rate = None if self.calibrated else self.gate.pass_rate(results)
            print_verdict(session, violations, "" if rate is None else f", pass rate {format_percent(rate)}")
        return not violations


def print_verdict(session: Session, violations: Sequence[str], figures: str = "") -> None:
    for violation in violations:
        session.remark(f"gate: {violation}")
    session.remark("gate: failed" if violations else f"gate: passed{figures}")


def _gates(
    fail_under: FailUnder = None,
    confidence: Confidence = None,
    calibrated: Calibrated = False,
    allow_errors: AllowErrors = None,
    errors_as: ErrorsAsOption = ErrorsAs.MISSING,
    allow_left_out_checks: AllowLeftOutChecks = False,
    junit: JunitFile = None,
    worse_than: WorseThan = None,
    not_worse_than: NotWorseThan = None,
    margin: Margin = None,
    alpha: Alpha = None,
    allow_inconclusive: AllowInconclusive = False,
) -> GateOptions:
    """Return the gates. The parameters are the options that `with_gates` adds. Raises UsageError for one without
    effect."""
    gate = Gate(fail_under, allow_errors, allow_left_out_checks, confidence, errors_as)
    calibrated_gate = None
    if calibrated:
        if fail_under is None:
            raise UsageError("--calibrated: needs --fail-under")
        if errors_as is ErrorsAs.FAIL:
            raise UsageError("--calibrated: cannot be combined with --errors-as fail, because labels are of answers")
        calibrated_gate = CalibratedGate(fail_under, confidence)
        gate = replace(gate, fail_under=None, allow_errors=allow_errors or 0)
    baseline = Baseline.from_options(
        worse_than, not_worse_than, margin, alpha, allow_inconclusive=allow_inconclusive, errors_as=errors_as
    )
    if errors_as is not ErrorsAs.MISSING and fail_under is None and baseline is None:
        raise UsageError("--errors-as: needs --fail-under, --fail-if-worse-than or --not-worse-than")
    if confidence is not None and fail_under is None:
        raise UsageError("--confidence: needs --fail-under")
    if junit is not None:
        check_text_file(junit, "--junit")
    return GateOptions(gate, junit, baseline, calibrated_gate)


def with_gates(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of gates before its last one; it gets them as its parameter `gates`."""
    options = signature(_gates).parameters
    *own, last = (each for each in signature(command).parameters.values() if each.name != "gates")
    parameters = [*own, *options.values(), last]

    @wraps(command)
    def with_options(**arguments: Any) -> None:
        gates = _gates(**{name: arguments.pop(name) for name in options})
        command(**arguments, gates=gates)

    # Typer reads the options of a command from both.
    vars(with_options)["__signature__"] = Signature(parameters)
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options
