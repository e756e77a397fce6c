"""Clients of the embedded cloud's services. No account of whoever runs this is involved."""

from typing import Any

from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION


def client(service: str, emulator: Emulator) -> Any:
    import boto3  # half a second, for which a stack that is up already need not wait
    from botocore.config import Config

    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=emulator.endpoint_url,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - the emulator takes anything
        config=Config(proxies={}, read_timeout=120, retries={"total_max_attempts": 1}),
    )
