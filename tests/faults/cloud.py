"""Separate resources in a running embedded cloud, copied from those of a deployed stack but without its functions.

The test calls the handlers itself, one at a time, with messages from real queues. The finishing machine is the stack's,
with an activity in place of its function, so that the test executes its tasks too.
"""

import os
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from cupel.stack.address import LocalStack
from cupel.stack.clients import make_client
from cupel_core.domain.runs.run import Priority
from cupel_core.providers import QUEUES
from cupel_core.store.settings import Lane

STACK = "cupel"
REGION = "us-east-1"
VISIBILITY_SECONDS = "300"
_ROLE = "arn:aws:iam::000000000000:role/faults"


@dataclass(frozen=True)
class Cloud:
    """The location of the resources. No faults are injected into its clients."""

    stack: LocalStack
    name: str

    @cache  # noqa: B019 - one cloud for the process
    def client(self, service: str) -> Any:
        return make_client(service, self.stack)

    @property
    def activity(self) -> str:
        return f"arn:aws:states:{REGION}:000000000000:activity:{self.name}"

    @property
    def machine(self) -> str:
        return f"arn:aws:states:{REGION}:000000000000:stateMachine:{self.name}-finish"

    def url(self, queue: str) -> str:
        return str(self.client("sqs").get_queue_url(QueueName=f"{self.name}-{queue}")["QueueUrl"])

    def create(self) -> None:
        self._create_table()
        self.client("s3").create_bucket(Bucket=self.name)
        lanes = [f"probe_{Lane(*lane).name}" for lane in product(QUEUES, Priority)]
        for queue in ("dispatch", "generate", "notify", "analyze", "turn", *lanes):
            self._create_queue(f"{queue}-dlq")
            self._create_queue(queue)
        self._create_machine()

    def environment(self) -> dict[str, str]:
        """The functions' environment as in template.yaml; the default timeout of model calls, so that none is repeated
        because the machine is slow."""
        return {
            **self.stack.access.variables(REGION),
            "POWERTOOLS_SERVICE_NAME": self.name,
            "POWERTOOLS_METRICS_NAMESPACE": "Cupel",
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
            "POWERTOOLS_METRICS_DISABLED": "true",
            "STACK_NAME": self.name,
            "TABLE_NAME": self.name,
            "BUCKET_NAME": self.name,
            "DISPATCH_QUEUE_URL": self.url("dispatch"),
            "GENERATE_QUEUE_URL": self.url("generate"),
            "FINISH_MACHINE_ARN": self.machine,
            "ALLOW_PRIVATE_ENDPOINTS": "true",
        }

    def install(self) -> None:
        os.environ.update(self.environment())

    def _create_table(self) -> None:
        client = self.client("dynamodb")
        stack = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
        deployed = next(output["OutputValue"] for output in stack["Outputs"] if output["OutputKey"] == "TableName")
        table = client.describe_table(TableName=deployed)["Table"]
        indexes = [
            {key: index[key] for key in ("IndexName", "KeySchema", "Projection")}
            for index in table["GlobalSecondaryIndexes"]
        ]
        client.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=table["AttributeDefinitions"],
            KeySchema=table["KeySchema"],
            GlobalSecondaryIndexes=indexes,
        )

    def _create_queue(self, name: str) -> None:
        attributes = {"VisibilityTimeout": VISIBILITY_SECONDS}
        self.client("sqs").create_queue(QueueName=f"{self.name}-{name}", Attributes=attributes)

    def _create_machine(self) -> None:
        client = self.client("stepfunctions")
        machines = client.list_state_machines()["stateMachines"]
        arn = next(machine["stateMachineArn"] for machine in machines if machine["name"] == f"{STACK}-finish")
        definition = client.describe_state_machine(stateMachineArn=arn)["definition"]
        function = f"arn:aws:lambda:{REGION}:000000000000:function:{STACK}-finish"
        if function not in definition:
            raise ValueError(f"the deployed machine does not call {function}")
        client.create_activity(name=self.name)
        client.create_state_machine(
            name=f"{self.name}-finish", definition=definition.replace(function, self.activity), roleArn=_ROLE
        )
