"""From what was built to a stack in the embedded cloud, by the same `sam deploy` that serves AWS."""

import platform
from pathlib import Path

from cupel.errors import CupelError
from cupel.stack.clients import client
from cupel.stack.emulator import Emulator
from cupel.stack.paths import STACK_NAME, Place
from cupel.stack.subprocesses import child_environment, run

_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
_ORIGINS = ("http://localhost:5173", "http://127.0.0.1:5173")
_ARCHITECTURES = {"arm64": "arm64", "aarch64": "arm64", "x86_64": "x86_64", "AMD64": "x86_64"}


def is_recorded(place: Place, digest: str) -> bool:
    """Whether these sources were the last to be deployed; the cloud may have lost its data since."""
    record = _record(place)
    return record.is_file() and record.read_text() == digest


def is_deployed(place: Place, emulator: Emulator, digest: str) -> bool:
    return is_recorded(place, digest) and _status(emulator) in _DEPLOYED


def deploy(place: Place, emulator: Emulator, digest: str) -> None:
    _record(place).unlink(missing_ok=True)
    configuration = str(place.repository / "samconfig.toml")
    command = ["sam", "deploy", "--config-file", configuration, "--template-file", str(place.build / "template.yaml")]
    command += ["--stack-name", STACK_NAME]
    command += ["--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"]
    command += ["--parameter-overrides", *(f"{name}={value}" for name, value in _parameters().items())]
    run(command, place, child_environment(place, emulator.endpoint_url), place.deploy_log)
    _let_preflights_pass(emulator)
    _record(place).write_text(digest)


def _parameters() -> dict[str, str]:
    """What differs on one machine: everything else is the template's default."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise CupelError(f"no Lambda architecture is called {machine}")
    return {
        "Architecture": _ARCHITECTURES[machine],
        "AllowedOrigins": ",".join(_ORIGINS),
        "DataDeletionPolicy": "Delete",
        "ProbeTimeoutSeconds": "120",
        "AllowPrivateEndpoints": "true",
    }


def _let_preflights_pass(emulator: Emulator) -> None:
    """The emulator answers every OPTIONS itself, and reads this only from the API, not from a template.

    On AWS the function answers, by the same rule: these origins, and no others.
    """
    client("apigatewayv2", emulator).update_api(
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
    cloudformation = client("cloudformation", emulator)
    try:
        return str(cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]["StackStatus"])
    except cloudformation.exceptions.ClientError:
        return None


def _record(place: Place) -> Path:
    return place.state / "deployed.digest"
