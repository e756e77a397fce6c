"""The real tools of others, in an environment of their own below .cupel/interop: Inspect, Node, promptfoo.

`make test` installs them, and again when a lock file changes: about a minute, 750 MB.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cupel.stack.paths import find_place
from cupel.stack.subprocesses import child_environment, run

LOCKS = Path(__file__).parent
_PLACE = find_place(LOCKS)
_HOME = _PLACE.tools / "interop"
_BINARIES = _HOME / "python" / "bin"
_SEALED = {
    # Whatever would call home meets a proxy that is not there.
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "INSPECT_DISABLE_TELEMETRY": "1",
    "NODE_NO_WARNINGS": "1",
}


def install() -> None:
    wanted = _digest()
    seal = _HOME / "digest"
    if seal.is_file() and seal.read_text() == wanted:
        return
    shutil.rmtree(_HOME, ignore_errors=True)
    _HOME.mkdir(parents=True)
    environment = child_environment(_PLACE)
    environment["PATH"] = f"{_BINARIES}:{environment['PATH']}"
    run(["uv", "venv", "--quiet", "--python", sys.executable, str(_HOME / "python")], _PLACE, environment)
    installing = ["uv", "pip", "install", "--quiet", "--python", str(_BINARIES / "python")]
    run([*installing, "-r", str(LOCKS / "requirements.txt")], _PLACE, environment)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCKS / name, _HOME)
    # Not `npm ci`: it wants the optional packages of every platform in the lock.
    # --force: of the libsql for three platforms, two are for others.
    options = ["--no-save", "--force", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
    run(["npm", "install", "--prefix", str(_HOME), *options], _PLACE, environment)
    seal.write_text(wanted)


def inspect(script: str, *arguments: str) -> str:
    """What a Python program says that has inspect_ai."""
    return _call([str(_BINARIES / "python"), "-c", script, *arguments])


def promptfoo(home: Path, *arguments: str, folder: Path | None = None) -> str:
    """`home` has its database."""
    program = str(_HOME / "node_modules" / ".bin" / "promptfoo")
    return _call([program, *arguments], {"PROMPTFOO_CONFIG_DIR": str(home)}, folder)


def _call(command: list[str], more: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    environment = child_environment(_PLACE) | _SEALED | dict(more or {})
    environment["PATH"] = f"{_BINARIES}:{environment['PATH']}"
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 100), done.stdout + done.stderr  # promptfoo answers 100 when a test fails
    return done.stdout


def _digest() -> str:
    texts = (LOCKS / name for name in ("requirements.txt", "package.json", "package-lock.json"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in texts)).hexdigest()


if __name__ == "__main__":
    install()
