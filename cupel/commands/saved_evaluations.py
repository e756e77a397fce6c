"""The files of evaluations in this process, from which `cupel run --in-process --resume` continues."""

import asyncio
from pathlib import Path

from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.in_process.api import run_plan
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.options import resume_path
from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.saved_outcomes import OutcomeFile
from cupel.session import Session

FOLDER = Path(".cupel/evaluations")
LAST = "last"


def find(name: str) -> Path:
    """The file of this name, or the one that was written to last. UsageError if there is none."""
    if name != LAST:
        if not Path(name).is_file():
            raise UsageError(f"--resume: {name}: no such file")
        return Path(name)
    files = sorted(FOLDER.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise UsageError(f"--resume {LAST}: there is no interrupted evaluation in {FOLDER}")
    return files[-1]


def run(session: Session, plan: EvaluationPlan) -> Evaluation:
    """Run the plan, and save what is finished in its file."""
    file = _open(plan)
    try:
        evaluation = asyncio.run(run_plan(plan, file, session.err))
    except KeyboardInterrupt:
        _explain_interruption(session, plan, file)
        raise
    if evaluation.errors:
        errored = count_of(len(evaluation.errors), "errored probe")
        session.remark(f"to run the {errored} again, repeat the command with --resume {file.path}")
    return evaluation


def discard(evaluation: Evaluation, resume: Path | None) -> None:
    """Delete a file in the folder if every probe has completed, so that nothing is left to continue.

    Only once the results are printed and written: until then, it is the only place where they are.
    """
    path = resume or _new_path(evaluation.id)
    if not evaluation.errors and path.parent == FOLDER:
        path.unlink(missing_ok=True)


def _open(plan: EvaluationPlan) -> OutcomeFile:
    """The file to continue, or a new one in the folder."""
    path = resume_path(plan.options)
    if path is not None:
        return plan.open_file(path)
    try:
        return plan.open_file(_new_path(plan.id))
    except UsageError as error:
        reason = str(error).rpartition(": ")[2]
        message = f"{FOLDER}: {reason}; run the command in a folder where finished probes can be saved"
        raise UsageError(message) from error


def _new_path(evaluation_id: str) -> Path:
    return FOLDER / f"{evaluation_id}.jsonl"


def _explain_interruption(session: Session, plan: EvaluationPlan, file: OutcomeFile) -> None:
    saved = file.count + (len(plan.saved.transcripts) if plan.saved else 0)
    if not saved:
        file.path.unlink(missing_ok=True)
        session.remark("interrupted before any conversation was finished; nothing was saved")
        return
    session.remark(f"interrupted; {saved:,} of {count_of(plan.probe_plan.total, 'probe')} are saved in {file.path}")
    session.remark(f"to continue, repeat the command with --resume {file.path}; unfinished conversations begin again")
