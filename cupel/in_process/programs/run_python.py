"""Runs code of an assertion in a separate process; started by cupel/in_process/code_runner.py.

It reads `{code?, file?, function?, arguments, nonce, cpuSeconds, memoryBytes}` from standard input. The last line of
its output is the nonce and `{result}` or `{error, cause}`; output of the code itself precedes it. The cause is `answer`
if the code raised the error on the answer, `load` if its file cannot be loaded, and `limit` if it takes too much
memory.
"""

import asyncio
import importlib.util
import inspect
import json
import re
import sys
import traceback
from pathlib import Path
from typing import Any

_INLINE = "<assertion>"
_LINES_BEFORE = 3


def main() -> None:
    request = json.load(sys.stdin)
    _limit(request["cpuSeconds"], request["memoryBytes"])
    source = request["file"] or _INLINE
    cause = "load"
    try:
        function = None if request["code"] is not None else _loaded(request)
        cause = "answer"
        text = json.dumps({"result": _call(function or _inline(request["code"]), request["arguments"])})
    except MemoryError as error:
        text = json.dumps({"error": _described(error, source), "cause": "limit"})
    except BaseException as error:  # noqa: BLE001 - also SystemExit: the code's failure is the answer
        text = json.dumps({"error": _described(error, source), "cause": cause})
    print(f"\n{request['nonce']}{text}", flush=True)


def _limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Set limits. Windows has none; there, the parent's timeout bounds both."""
    try:
        import resource
    except ImportError:
        return
    for kind, size in ((resource.RLIMIT_CPU, cpu_seconds), (resource.RLIMIT_DATA, memory_bytes)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def _loaded(request: dict[str, Any]) -> Any:
    return _attribute(_module(Path(request["file"])), request["function"])


def _call(function: Any, arguments: list[Any]) -> Any:
    returned = function(*arguments)
    return asyncio.run(returned) if inspect.iscoroutine(returned) else returned


def _inline(code: str) -> Any:
    """Run code as promptfoo does: one line is an expression, several are the body of a function."""
    code = code.rstrip()
    if "\n" in code.strip():
        indented = re.search(r"^(?!\s*$)[ \t]+", code, re.MULTILINE)
        indent = indented[0] if indented else "    "
        body = "\n".join(f"{indent}{line}" for line in code.split("\n"))
    else:
        body = f"    return {code.strip()}"
    namespace: dict[str, Any] = {}
    exec(compile(f"import json\n\ndef main(output, context):\n{body}\n", _INLINE, "exec"), namespace)  # noqa: S102
    return namespace["main"]


def _module(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: Any, name: str) -> Any:
    value = module
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _described(error: BaseException, source: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
    first = _LINES_BEFORE if source == _INLINE else 0
    where = f" (line {(lines[-1] or 0) - first})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"[:2_000]


main()
