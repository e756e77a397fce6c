"""Deploys the build to the embedded cloud, with the same `sam deploy` that is used for AWS."""

import platform
from pathlib import Path

from cupel.errors import CupelError
from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator, save_deployment
from cupel.stack.paths import STACK_NAME, StackPaths
from cupel.stack.subprocesses import child_environment, run
from cupel.stack.workers import MEMORY_MB, probe_workers

_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
_ORIGINS = ("http://localhost:5173", "http://127.0.0.1:5173")
_ARCHITECTURES = {"arm64": "arm64", "aarch64": "arm64", "x86_64": "x86_64", "AMD64": "x86_64"}


def is_recorded(paths: StackPaths, digest: str) -> bool:
    """Whether these sources were deployed last; the embedded cloud may have lost its data since then."""
    record = _record(paths)
    return record.is_file() and record.read_text() == digest


def is_deployed(paths: StackPaths, emulator: Emulator, digest: str) -> bool:
    return is_recorded(paths, digest) and _status(emulator) in _DEPLOYED


def deploy(paths: StackPaths, emulator: Emulator, digest: str) -> None:
    _record(paths).unlink(missing_ok=True)
    configuration = str(paths.repository / "samconfig.toml")
    command = ["sam", "deploy", "--config-file", configuration, "--template-file", str(paths.build / "template.yaml")]
    command += ["--stack-name", STACK_NAME]
    command += ["--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"]
    command += ["--parameter-overrides", *(f"{name}={value}" for name, value in _parameters().items())]
    run(command, paths, child_environment(paths, emulator.endpoint_url), paths.deploy_log)
    _configure_cors(emulator)
    save_deployment(emulator)
    _record(paths).write_text(digest)


def _parameters() -> dict[str, str]:
    """The parameters that differ on one machine; the others keep the template's defaults."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise CupelError(f"unsupported machine architecture {machine}; supported: {', '.join(_ARCHITECTURES)}")
    return {
        "Architecture": _ARCHITECTURES[machine],
        "AllowedOrigins": ",".join(_ORIGINS),
        "DataDeletionPolicy": "Delete",
        "ProbeTimeoutSeconds": "120",
        "ProbeWorkers": str(probe_workers()),
        "ProbeMemorySize": str(MEMORY_MB),
        "CallTimeoutSeconds": "60",
        "AllowPrivateEndpoints": "true",
    }


def _configure_cors(emulator: Emulator) -> None:
    """Set the allowed origins: the emulator handles all OPTIONS requests itself and ignores the template's origins.

    On AWS, the API function handles OPTIONS requests with the same headers.
    """
    make_client("apigatewayv2", emulator).update_api(
        ApiId=STACK_NAME,
        CorsConfiguration={
            "AllowOrigins": list(_ORIGINS),
            "AllowMethods": ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            "AllowHeaders": ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
            "ExposeHeaders": ["Retry-After", "Location"],
            "MaxAge": 600,
        },
    )


def _status(emulator: Emulator) -> str | None:
    cloudformation = make_client("cloudformation", emulator)
    try:
        return str(cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]["StackStatus"])
    except cloudformation.exceptions.ClientError:
        return None


def _record(paths: StackPaths) -> Path:
    return paths.state / "deployed.digest"
