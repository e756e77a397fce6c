"""Runs the code of assertions in separate processes, with limits on time, memory and output.

The limits end code that hangs or grows without bound. They are no protection from malicious code: it has the rights and
the environment of the user, who allows it explicitly (`--allow-code`).
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO, Any

from cupel.errors import UsageError
from cupel_core.domain.scoring.assertion_rules import ASSERT_SET, CODE_KINDS, SCORING_FUNCTION, VALUE_FUNCTION
from cupel_core.domain.scoring.assertions import Assertion, flatten
from cupel_core.domain.scoring.output_transforms import transform_error
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.scoring.check_result import CodeFailed, NotComputable
from cupel_core.scoring.code_assertions import (
    JAVASCRIPT,
    PYTHON,
    Code,
    code_of,
    scoring_function_of,
    transform_code_of,
    value_function_of,
)

_PROGRAMS = Path(__file__).parent / "programs"
_SHOWN_ERROR_LENGTH = 500
_SIZE_CHECK_SECONDS = 0.2


@dataclass(frozen=True)
class CodeLimits:
    seconds: float = 30.0
    """Limits the time from start to end; a process also has as much CPU time at most."""
    memory_mb: int = 2_048
    """Limits the data; libraries for statistics and embeddings need most of it."""
    max_output_bytes: int = 4_000_000


@dataclass(frozen=True)
class ProcessCodeRunner:
    """Runs code of files relative to `folder`, with at most one process per processor at a time."""

    folder: Path
    limits: CodeLimits = CodeLimits()
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(os.cpu_count() or 1))

    async def __call__(self, code: Code, arguments: list[Any]) -> Any:
        nonce = token_hex(16)
        request = {
            "code": code.text,
            "file": None if code.file is None else str((self.folder / code.file).resolve()),
            "function": code.function,
            "arguments": arguments,
            "transform": code.is_transform,
            "nonce": nonce,
            "cpuSeconds": round(self.limits.seconds),
            "memoryBytes": self.limits.memory_mb << 20,
        }
        async with self._turns:
            output = await self._run(code.language, json.dumps(request).encode())
        return _result(output, f"\n{nonce}".encode(), code)

    async def _run(self, language: str, request: bytes) -> "_ProcessOutput":
        """Run with files instead of pipes, so that code which prints much or ends early blocks nothing."""
        with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
            stdin.write(request)
            stdin.seek(0)
            process = await asyncio.create_subprocess_exec(
                *_command(language, self.limits),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder,
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self.limits.seconds):
                    exit_code = await _exit_code(process, (stdout, stderr), self.limits)
            except TimeoutError:
                raise NotComputable(f"the code takes more than {self.limits.seconds:g} s", UnscoredCode.CODE) from None
            finally:
                _end(process)
                await process.wait()
            return _ProcessOutput(_read(stdout, self.limits), _read(stderr, self.limits), exit_code)


@dataclass(frozen=True)
class _ProcessOutput:
    stdout: bytes
    stderr: bytes
    exit_code: int


def _command(language: str, limits: CodeLimits) -> list[str]:
    if language == PYTHON:
        return [sys.executable, str(_PROGRAMS / "run_python.py")]
    return [_node(), f"--max-old-space-size={limits.memory_mb}", str(_PROGRAMS / "run_javascript.mjs")]


def _node() -> str:
    return shutil.which("node") or "node"


async def _exit_code(process: asyncio.subprocess.Process, files: Iterable[IO[bytes]], limits: CodeLimits) -> int:
    """Wait for the end of the process. Raises NotComputable as soon as it has printed too much."""
    waiting = asyncio.ensure_future(process.wait())
    while not (await asyncio.wait({waiting}, timeout=_SIZE_CHECK_SECONDS))[0]:
        for file in files:
            _check_size(file, limits)
    return waiting.result()


def _check_size(file: IO[bytes], limits: CodeLimits) -> None:
    if os.fstat(file.fileno()).st_size > limits.max_output_bytes:
        raise NotComputable(
            f"the code prints or returns more than {limits.max_output_bytes:,} bytes", UnscoredCode.CODE
        )


def _read(file: IO[bytes], limits: CodeLimits) -> bytes:
    _check_size(file, limits)
    file.seek(0)
    return file.read()


def _end(process: asyncio.subprocess.Process) -> None:
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _result(output: _ProcessOutput, nonce: bytes, code: Code) -> Any:
    _, separator, line = output.stdout.rpartition(nonce)
    if not separator:
        raise NotComputable(_exit_message(output), UnscoredCode.CODE)
    answer = json.loads(line.partition(b"\n")[0])  # Code may also print when it exits.
    if "error" in answer:
        where = f"{code.file}: " if code.file else ""
        if answer.get("cause") == "answer":
            raise CodeFailed(f"the code failed: {where}{answer['error']}")
        raise NotComputable(f"the code failed: {where}{answer['error']}", UnscoredCode.CODE)
    return answer["result"]


def _exit_message(output: _ProcessOutput) -> str:
    if sys.platform != "win32" and output.exit_code == -signal.SIGXCPU:
        return "the code takes too much CPU time"
    said = output.stderr.decode(errors="replace").strip()[-_SHOWN_ERROR_LENGTH:]
    return f"the code ended with {output.exit_code} and without a result{f': {said}' if said else ''}"


def check_code(assertions: Iterable[Assertion], folder: Path) -> None:
    """Raise UsageError if code cannot run here: a file does not exist, or Node.js is missing."""
    for code in codes_of(assertions):
        if code.file is not None and not (folder / code.file).is_file():
            raise UsageError(f"assertions: {code.file}: no such file in {folder.resolve()}")
        if code.language == JAVASCRIPT and shutil.which("node") is None:
            raise UsageError("assertions: JavaScript needs Node.js, and there is no `node` on the PATH")


def codes_of(assertions: Iterable[Assertion]) -> Iterator[Code]:
    for assertion in flatten(tuple(assertions)):
        yield from (transform_code_of(each) for each in assertion.transforms if transform_error(each))
        if assertion.kind in CODE_KINDS:
            yield code_of(assertion.kind, assertion.value)
        elif function := (assertion.config or {}).get(VALUE_FUNCTION):
            yield value_function_of(function)
        elif assertion.kind == ASSERT_SET and (function := (assertion.config or {}).get(SCORING_FUNCTION)):
            yield scoring_function_of(function)
