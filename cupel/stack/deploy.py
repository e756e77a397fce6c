"""Deploys the build to the embedded cloud, with the same `sam deploy` that is used for AWS."""

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cupel.errors import CupelError
from cupel.stack.clients import make_client
from cupel.stack.durability.processes import MAX_WAITING_REQUESTS
from cupel.stack.emulator import Emulator, save_deployment
from cupel.stack.origins import read_origins
from cupel.stack.paths import STACK_NAME, StackPaths
from cupel.stack.subprocesses import child_environment, run
from cupel.stack.workers import MEMORY_MB, probe_workers

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
"""What the API function answers on AWS."""
_ARCHITECTURES = {"arm64": "arm64", "aarch64": "arm64", "x86_64": "x86_64", "AMD64": "x86_64"}


def is_recorded(paths: StackPaths, digest: str) -> bool:
    """Whether these sources were deployed last, for the same origins; the data may have been lost since then."""
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
    command += ["--parameter-overrides", *(f"{name}={value}" for name, value in _parameters(origins).items())]
    run(command, paths, child_environment(paths, emulator.endpoint_url), paths.deploy_log)
    _configure_cors(emulator, origins)
    save_deployment(emulator)
    _record(paths).write_text(_deployment(paths, digest))


def _deployment(paths: StackPaths, digest: str) -> str:
    return "\n".join((digest, *read_origins(paths)))


def _parameters(origins: Sequence[str]) -> dict[str, str]:
    """The parameters that differ on one machine; the others keep the template's defaults."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise CupelError(f"unsupported machine architecture {machine}; supported: {', '.join(_ARCHITECTURES)}")
    return {
        "Architecture": _ARCHITECTURES[machine],
        "AllowedOrigins": ",".join(origins),
        "DataDeletionPolicy": "Delete",
        "ProbeTimeoutSeconds": "120",
        "ProbeWorkers": str(probe_workers()),
        "ProbeMemorySize": str(MEMORY_MB),
        "CallTimeoutSeconds": "60",
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
