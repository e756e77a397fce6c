"""The real Inspect, Node and promptfoo, installed in a separate environment below .cupel/interop.

`make test` installs them, and again when a lock file changes: about a minute, 800 MB.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cupel.stack.paths import find_stack_paths
from cupel.stack.subprocesses import child_environment, run

LOCKS = Path(__file__).parent
_PATHS = find_stack_paths(LOCKS)
_HOME = _PATHS.tools / "interop"
BINARIES = _HOME / "python" / "bin"
_ISOLATED = {
    # Telemetry is sent to a proxy that does not exist.
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "INSPECT_DISABLE_TELEMETRY": "1",
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "NODE_NO_WARNINGS": "1",
}


NODE_CLIENTS = ("openai-oldest", "openai-middle", "openai")
PYTHON_CLIENTS = tuple(sorted(path.stem for path in (LOCKS / "openai_clients").glob("*.txt")))
OPENAI_CLIENTS = (*NODE_CLIENTS, *PYTHON_CLIENTS)
"""Each begins with the first version that had evals."""


def install() -> None:
    digest = _digest()
    record = _HOME / "digest"
    if record.is_file() and record.read_text() == digest:
        return
    shutil.rmtree(_HOME, ignore_errors=True)
    _HOME.mkdir(parents=True)
    environment = child_environment(_PATHS)
    environment["PATH"] = f"{BINARIES}:{environment['PATH']}"
    run(["uv", "venv", "--quiet", "--python", sys.executable, str(_HOME / "python")], _PATHS, environment)
    pip_install = ["uv", "pip", "install", "--quiet", "--python", str(BINARIES / "python")]
    run([*pip_install, "-r", str(LOCKS / "requirements.txt")], _PATHS, environment)
    for version in PYTHON_CLIENTS:
        _install_python_client(version, environment)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCKS / name, _HOME)
    # Not `npm ci`, which requires the optional packages of every platform in the lock.
    # --force: libsql is locked for three platforms, two of which do not match.
    options = ["--no-save", "--force", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
    run(["npm", "install", "--prefix", str(_HOME), *options], _PATHS, environment)
    record.write_text(digest)


def _install_python_client(version: str, environment: dict[str, str]) -> None:
    home = _python_client(version)
    run(["uv", "venv", "--quiet", "--python", sys.executable, str(home)], _PATHS, environment)
    pip_install = ["uv", "pip", "install", "--quiet", "--python", str(home / "bin" / "python")]
    run([*pip_install, "-r", str(LOCKS / "openai_clients" / f"{version}.txt")], _PATHS, environment)


def promptfoo_services() -> set[str]:
    """What the ids of its providers begin with, as its program compares them."""
    program = _HOME / "node_modules" / "promptfoo" / "dist" / "src"
    texts = (path.read_text() for kind in ("providers", "aws", "google") for path in program.glob(f"{kind}-*.js"))
    pattern = r'providerPath(?:\.startsWith\("([\w.-]+):| === "([\w.-]+)")'
    return {one or other for text in texts for one, other in re.findall(pattern, text)}


def promptfoo_options() -> set[str]:
    """What its providers of chat models read from their `config`."""
    program = _HOME / "node_modules" / "promptfoo" / "dist" / "src"
    kinds = ("openai", "chat", "openaiResponses", "responses", "messages", "ai.studio", "aws")
    texts = (path.read_text() for kind in kinds for path in program.glob(f"{kind}-*.js"))
    return {name for text in texts for name in re.findall(r"\bconfig\??\.([A-Za-z_]+)", text)}


def promptfoo_keys() -> dict[str, list[str]]:
    """The keys that its schemas know, by what they are keys of."""
    module = _HOME / "node_modules" / "promptfoo" / "dist" / "src" / "index.js"
    printed = _call([str(BINARIES / "node"), str(LOCKS / "promptfoo_keys.mjs"), str(module)])
    keys: dict[str, list[str]] = json.loads(printed.splitlines()[-1])
    return keys


def promptfoo_tool_calls(home: Path, cases: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its results for these cases, see `promptfoo_tool_calls.mjs`."""
    module = _HOME / "node_modules" / "promptfoo" / "dist" / "src" / "index.js"
    file = home / "cases.json"
    file.write_text(json.dumps(cases))
    command = [str(BINARIES / "node"), str(LOCKS / "promptfoo_tool_calls.mjs"), str(module), str(file)]
    printed: list[dict[str, Any]] = json.loads(_call(command, {"PROMPTFOO_CONFIG_DIR": str(home)}).splitlines()[-1])
    return printed


def javascript(home: Path, cases: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return what Node.js returns for these expressions on these texts as `output`; see `javascript.mjs`."""
    file = home / "cases.json"
    file.write_text(json.dumps(cases))
    returned: list[dict[str, Any]] = json.loads(
        _call([str(BINARIES / "node"), str(LOCKS / "javascript.mjs"), str(file)])
    )
    return returned


def inspect(script: str, *arguments: str) -> str:
    """Run a Python program with inspect_ai installed; returns its standard output."""
    return _call([str(BINARIES / "python"), "-c", script, *arguments])


def promptfoo(home: Path, *arguments: str, folder: Path | None = None) -> str:
    """Run promptfoo with its database in `home`; returns its standard output."""
    program = str(_HOME / "node_modules" / ".bin" / "promptfoo")
    return _call([program, *arguments], {"PROMPTFOO_CONFIG_DIR": str(home)}, folder)


def promptfoo_suites(home: Path, configurations: Sequence[Path]) -> dict[str, Any]:
    """Return the results of each configuration by the name of its folder; see `promptfoo_suites.mjs`."""
    program = _HOME / "node_modules" / "promptfoo" / "dist" / "src" / "main.js"
    command = [str(BINARIES / "node"), str(LOCKS / "promptfoo_suites.mjs"), str(program), str(home)]
    _call([*command, *map(str, configurations)], {"PROMPTFOO_CONFIG_DIR": str(home)})
    names = [path.parent.name for path in configurations]
    return {name: json.loads((home / f"{name}.json").read_text())["results"] for name in names}


def lint_openapi(document: Path) -> Any:
    """Redocly's result for an OpenAPI document, with warnings as errors."""
    program = str(_HOME / "node_modules" / ".bin" / "redocly")
    # Problems that any operation may answer are its `default` response, which this rule does not count.
    skipped = "--skip-rule=operation-4xx-response"
    arguments = ["lint", "--extends=recommended-strict", skipped, "--format=json", document.name]
    return json.loads(_call([program, *arguments], folder=document.parent))


def generate_client(document: Path, folder: Path) -> None:
    """Write the client that openapi-python-client generates from the document; a warning of it fails."""
    configuration = folder.parent / "openapi-python-client.json"
    configuration.write_text(json.dumps({"package_name_override": folder.name, "post_hooks": []}))
    options = ["--meta=none", "--fail-on-warning", "--config", str(configuration)]
    command = ["openapi-python-client", "generate", "--path", str(document), "--output-path", str(folder), *options]
    _call([str(BINARIES / command[0]), *command[1:]])


def read_events(url: str, *types: str) -> list[str]:
    """`<id> <type>` of each event of these types that Node's EventSource receives, until it stops."""
    script = str(LOCKS / "event_source.mjs")
    received: list[str] = json.loads(_call([str(BINARIES / "node"), "--experimental-eventsource", script, url, *types]))
    return received


def call_openai_client(client: str, url: str, key: str) -> dict[str, Any]:
    """Return what an OpenAI client, one of OPENAI_CLIENTS, receives from a server of its Evals API."""
    scripts = LOCKS / "openai_clients"
    if client in PYTHON_CLIENTS:
        command = [str(_python_client(client) / "bin" / "python"), str(scripts / "life.py")]
    else:
        module = _HOME / "node_modules" / client / "index.mjs"
        command = [str(BINARIES / "node"), str(scripts / "life.mjs"), str(module)]
    received: dict[str, Any] = json.loads(_call([*command, url, key]))
    return received


def _python_client(version: str) -> Path:
    return _HOME / f"openai-{version}"


def call_mcp_client(mode: str, run_id: str, *server: str) -> dict[str, Any]:
    """What the official client of MCP receives from a server at an address with a token, or of a command."""
    script = str(LOCKS / "mcp_client.py")
    received: dict[str, Any] = json.loads(_call([str(BINARIES / "python"), script, mode, run_id, *server]))
    return received


class McpSession:
    """The official client of MCP, connected to a server until it is closed."""

    def __init__(self, address: str, token: str) -> None:
        command = [str(BINARIES / "python"), str(LOCKS / "mcp_session.py"), address, token]
        self._process = subprocess.Popen(
            command, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool returns. AssertionError if it is an error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
        line = self._process.stdout.readline()
        assert line, "the client has stopped"
        result = json.loads(line)
        assert not result["isError"], result["content"]
        return dict(result["content"])

    def close(self) -> None:
        self._process.communicate(timeout=30)


def _environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    environment = child_environment(_PATHS) | _ISOLATED | dict(variables or {})
    return environment | {"PATH": f"{BINARIES}:{environment['PATH']}"}


def _call(command: list[str], variables: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    completed = subprocess.run(
        command, env=_environment(variables), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    # promptfoo exits with 100 if a test fails, Redocly with 1 if it has found something.
    assert completed.returncode in (0, 1, 100), completed.stdout + completed.stderr
    return completed.stdout


def _digest() -> str:
    names = ("requirements.txt", "package.json", "package-lock.json")
    files = [*(LOCKS / name for name in names), *sorted((LOCKS / "openai_clients").glob("*.txt"))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


if __name__ == "__main__":
    install()
