"""boto3 clients of the embedded cloud's services. They never use the user's AWS account."""

from typing import Any

from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION


def make_client(service: str, emulator: Emulator) -> Any:
    import boto3  # takes half a second, which a stack that is already up avoids
    from botocore.config import Config

    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=emulator.endpoint_url,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - the emulator accepts any key
        config=Config(proxies={}, read_timeout=120, retries={"total_max_attempts": 1}),
    )
