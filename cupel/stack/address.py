"""Stores the address of the local stack and its admin token in `.cupel/local.json` for the command, tests and
people."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import NamedTuple

from cupel.errors import CupelError
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.access.signatures import AccessKey
from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION, STACK_NAME, StackPaths, write_private
from cupel.stack.subprocesses import child_environment, run

_REFUSED = (401, 404)  # The token is unknown, or the API does not exist.
_WAIT_SECONDS = 60.0  # The first request unpacks and imports two functions.


@dataclass(frozen=True)
class LocalStack:
    api_url: str
    token: str
    region: str
    access: CloudAccess
    stack_name: str

    @property
    def endpoint_url(self) -> str:
        return self.access.endpoint_url


def read_local(paths: StackPaths) -> LocalStack | None:
    try:
        content = json.loads(paths.local_file.read_text())
        key = AccessKey(content["accessKeyId"], content["secretAccessKey"])
        return LocalStack(
            api_url=content["apiUrl"],
            token=content["token"],
            region=content["region"],
            access=CloudAccess(content["endpointUrl"], content["objectsUrl"], key),
            stack_name=content["stackName"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_local(paths: StackPaths, local: LocalStack) -> None:
    content = {
        "apiUrl": local.api_url,
        "token": local.token,
        "region": local.region,
        "endpointUrl": local.endpoint_url,
        "objectsUrl": local.access.objects_url,
        "accessKeyId": local.access.key.key_id,
        "secretAccessKey": local.access.key.secret,
        "stackName": local.stack_name,
    }
    write_private(paths.local_file, json.dumps(content, indent=2) + "\n")


def accepts_token(local: LocalStack) -> bool:
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
        body = refusal.read().decode(errors="replace")
        raise CupelError(f"the API responds with {refusal.code}: {body[:500]}") from refusal
    except OSError as error:
        raise CupelError(f"the API does not respond at {local.api_url}: {error}") from error


class FirstToken(NamedTuple):
    api_url: str
    token_id: str
    secret: str


def issue_token(paths: StackPaths, emulator: Emulator, *options: str) -> FirstToken:
    command = ["cupel", "tokens", "bootstrap", "--stack-name", STACK_NAME, *options, "--json"]
    issued = json.loads(run(command, paths, child_environment(paths, emulator.access)))
    return FirstToken(emulator.api_url(STACK_NAME), issued["tokenId"], issued["token"])


def issue_local(paths: StackPaths, emulator: Emulator) -> LocalStack:
    issued = issue_token(paths, emulator, "--name", "cupel up")
    return LocalStack(
        api_url=issued.api_url,
        token=issued.secret,
        region=REGION,
        access=emulator.access,
        stack_name=STACK_NAME,
    )
