"""Deploys the build to the embedded cloud, with the remembered options of `cupel up`.

These are the origins of web pages that may call the stack (`--allow-origin`) and how long a model call may take
(`--call-timeout`). The hosts at which the stack answers beside its own (`--allow-host`) are not remembered.
"""

import json
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cupel.errors import CupelError, UsageError
from cupel.stack.access.gate import encode_hosts, is_host
from cupel.stack.clients import make_client
from cupel.stack.durability.processes import MAX_WAITING_REQUESTS
from cupel.stack.emulator import Emulator, save_deployment
from cupel.stack.paths import STACK_NAME, StackPaths
from cupel.stack.subprocesses import child_environment, run
from cupel.stack.workers import MEMORY_MB, probe_workers
from cupel.whole_files import replace_file

_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
CORS: dict[str, Any] = {
    "AllowMethods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
    "AllowHeaders": [
        "Authorization",
        "Content-Type",
        "If-Match",
        "Idempotency-Key",
        "Last-Event-ID",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
    ],
    "ExposeHeaders": ["ETag", "Location", "RateLimit", "RateLimit-Policy", "Retry-After", "apigw-requestid"],
    "MaxAge": 600,
}
_ARCHITECTURES = {"arm64": "arm64", "aarch64": "arm64", "x86_64": "x86_64", "AMD64": "x86_64"}
DEFAULT_CALL_SECONDS = 120
"""The template has the same default."""
ALLOWED_SECONDS = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 480, 600)
"""The template allows these values of CallTimeoutSeconds."""
_PROBE_SECONDS = (120, 300, 600, 900)
"""A local stack uses the first of these values of ProbeTimeoutSeconds that leaves enough time for calls."""
_RESERVED_SECONDS = 16
"""An invocation reserves this time for its last commit, and for new calls."""
DEFAULT_ORIGINS = ("http://localhost:5173", "http://127.0.0.1:5173")
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?")


def is_recorded(paths: StackPaths, digest: str) -> bool:
    record = _record(paths)
    return record.is_file() and record.read_text() == _deployment(paths, digest)


def is_deployed(paths: StackPaths, emulator: Emulator, digest: str) -> bool:
    return is_recorded(paths, digest) and _status(emulator) in _DEPLOYED


def deploy(paths: StackPaths, emulator: Emulator, digest: str) -> None:
    _record(paths).unlink(missing_ok=True)
    origins = read_origins(paths)
    configuration = str(paths.repository / "samconfig.toml")
    command = ["sam", "deploy", "--config-file", configuration, "--template-file", str(paths.build / "template.yaml")]
    command += ["--stack-name", STACK_NAME]
    command += ["--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"]
    parameters = _parameters(origins, read_call_timeout(paths))
    command += ["--parameter-overrides", *(f"{name}={value}" for name, value in parameters.items())]
    run(command, paths, child_environment(paths, emulator.access), paths.deploy_log)
    _configure_cors(emulator, origins)
    save_deployment(emulator)
    replace_file(_record(paths), _deployment(paths, digest))


def _deployment(paths: StackPaths, digest: str) -> str:
    return "\n".join((digest, *read_origins(paths), f"calls of {read_call_timeout(paths)} s"))


def _parameters(origins: Sequence[str], call_seconds: int) -> dict[str, str]:
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise CupelError(f"unsupported machine architecture {machine}; supported: {', '.join(_ARCHITECTURES)}")
    return {
        "Architecture": _ARCHITECTURES[machine],
        "AllowedOrigins": ",".join(origins),
        "DataDeletionPolicy": "Delete",
        "ProbeTimeoutSeconds": str(probe_timeout(call_seconds)),
        "ProbeWorkers": str(probe_workers()),
        "ProbeMemorySize": str(MEMORY_MB),
        "CallTimeoutSeconds": str(call_seconds),
        "AllowPrivateEndpoints": "true",
        "MaxWaitingRequests": str(MAX_WAITING_REQUESTS),
    }


def _configure_cors(emulator: Emulator, origins: Sequence[str]) -> None:
    """Set the allowed origins: the emulator handles all OPTIONS requests itself and ignores the template's origins.

    On AWS, the API function handles OPTIONS requests with the same headers.
    """
    make_client("apigatewayv2", emulator).update_api(
        ApiId=STACK_NAME,
        CorsConfiguration={"AllowOrigins": list(origins), **CORS},
    )


def _status(emulator: Emulator) -> str | None:
    cloudformation = make_client("cloudformation", emulator)
    try:
        return str(cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]["StackStatus"])
    except cloudformation.exceptions.ClientError:
        return None


def _record(paths: StackPaths) -> Path:
    return paths.state / "deployed.digest"


def read_call_timeout(paths: StackPaths) -> int:
    file = _timeout_file(paths)
    return int(json.loads(file.read_text())) if file.is_file() else DEFAULT_CALL_SECONDS


def choose_call_timeout(paths: StackPaths, seconds: int) -> None:
    """Choose the time. Raises UsageError for one that the template does not allow."""
    if seconds not in ALLOWED_SECONDS:
        allowed = ", ".join(map(str, ALLOWED_SECONDS))
        raise UsageError(f"--call-timeout: {seconds} is none of the times that the stack allows: {allowed}")
    paths.make_private()
    replace_file(_timeout_file(paths), json.dumps(seconds))


def probe_timeout(call_seconds: int) -> int:
    return next(each for each in _PROBE_SECONDS if each - _RESERVED_SECONDS >= call_seconds)


def _timeout_file(paths: StackPaths) -> Path:
    return paths.state / "call_timeout.json"


def read_origins(paths: StackPaths) -> tuple[str, ...]:
    file = _origins_file(paths)
    return tuple(json.loads(file.read_text())) if file.is_file() else DEFAULT_ORIGINS


def choose_origins(paths: StackPaths, origins: Sequence[str]) -> None:
    """Replace the origins. Raises UsageError for values that browsers do not send as an origin."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise UsageError(
                f'"{origin}" is no origin: write the scheme, the host in lower case, and the port if it is not the '
                "usual one, without a path, as in http://localhost:3000"
            )
    paths.make_private()
    replace_file(_origins_file(paths), json.dumps(list(dict.fromkeys(origins))))


def choose_hosts(paths: StackPaths, hosts: Sequence[str]) -> Sequence[str]:
    """Replace the hosts, also by none. Raises UsageError for values that browsers do not send as a host."""
    for host in hosts:
        if not is_host(host):
            raise UsageError(
                f'--allow-host: "{host}" is no host: write the name in lower case and the port, as in '
                "name-4566.preview.example:443"
            )
    paths.make_private()
    replace_file(paths.hosts_file, encode_hosts(hosts))
    return hosts


def _origins_file(paths: StackPaths) -> Path:
    return paths.state / "origins.json"
