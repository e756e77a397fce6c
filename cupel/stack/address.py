"""`.cupel/local.json`: where the local stack is and the token that opens it, for the command, the tests and people."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass

from cupel.errors import CupelError
from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION, STACK_NAME, Place, write_private
from cupel.stack.subprocesses import child_environment, run

_REFUSED = (401, 404)  # not this token, not even an API
_WAIT_SECONDS = 60.0  # the first request unpacks and imports two functions


@dataclass(frozen=True)
class Local:
    api_url: str
    token: str
    region: str
    endpoint_url: str
    stack_name: str


def read_local(place: Place) -> Local | None:
    try:
        content = json.loads(place.local_file.read_text())
        return Local(
            api_url=content["apiUrl"],
            token=content["token"],
            region=content["region"],
            endpoint_url=content["endpointUrl"],
            stack_name=content["stackName"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_local(place: Place, local: Local) -> None:
    content = {
        "apiUrl": local.api_url,
        "token": local.token,
        "region": local.region,
        "endpointUrl": local.endpoint_url,
        "stackName": local.stack_name,
    }
    write_private(place.local_file, json.dumps(content, indent=2) + "\n")


def is_open(local: Local) -> bool:
    """Whether the API is there and takes the token. This also wakes the API and its authorizer."""
    request = urllib.request.Request(  # noqa: S310 - an http address of our own making
        f"{local.api_url}/v1/runs?limit=1", headers={"Authorization": f"Bearer {local.token}"}
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=_WAIT_SECONDS):
            return True
    except urllib.error.HTTPError as refusal:
        if refusal.code in _REFUSED:
            return False
        told = refusal.read().decode(errors="replace")
        raise CupelError(f"the API answers {refusal.code}: {told[:500]}") from refusal
    except OSError as error:
        raise CupelError(f"the API does not answer at {local.api_url}: {error}") from error


def issue_token(place: Place, emulator: Emulator) -> Local:
    """The first admin token, by the very command that writes it on AWS."""
    command = ["cupel", "tokens", "bootstrap", "--stack-name", STACK_NAME, "--name", "cupel up", "--json"]
    issued = json.loads(run(command, place, child_environment(place, emulator.endpoint_url)))
    return Local(
        api_url=emulator.api_url(STACK_NAME),
        token=issued["token"],
        region=REGION,
        endpoint_url=emulator.endpoint_url,
        stack_name=STACK_NAME,
    )
