"""Records the AWS calls of the functions of a test's stack. Python imports this module at start, from PYTHONPATH.

It is active only in the emulator's function processes, which have AWS_LAMBDA_FUNCTION_NAME. botocore is hooked when the
function imports it: importing it here would load the emulator's copy instead of the layer's.
"""

import importlib.abc
import importlib.machinery
import json
import os
import sys
from pathlib import Path

_FUNCTION = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
_FILE = os.environ.get("RECORDED_CALLS_FILE", "")
_RESOURCE_PARAMETERS = ("QueueUrl", "TableName", "SecretId", "stateMachineArn", "executionArn", "modelId", "Name")
_TRANSACTIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}


def _calls(operation, parameters):
    """(operation, resource) pairs: transactions and batches name several tables."""
    if "TransactItems" in parameters:
        for item in parameters["TransactItems"]:
            for kind, inner in item.items():
                yield _TRANSACTIONS.get(kind, "ConditionCheckItem"), inner["TableName"]
    elif "RequestItems" in parameters:
        for table in parameters["RequestItems"]:
            yield operation, table
    elif "Delete" in parameters:
        for each in parameters["Delete"]["Objects"]:
            yield operation, f"{parameters['Bucket']}/{each['Key'].partition('/')[0]}"
    elif "Bucket" in parameters:
        yield operation, f"{parameters['Bucket']}/{parameters.get('Key', '').partition('/')[0]}"
    else:
        name = next((str(parameters[each]) for each in _RESOURCE_PARAMETERS if each in parameters), "")
        yield operation, f"{name}/index/{parameters['IndexName']}" if "IndexName" in parameters else name


def _install(client_module):
    original = client_module.BaseClient._make_api_call
    seen = set()

    def make_api_call(client, operation_name, api_params):
        for operation, resource in _calls(operation_name, api_params):
            call = (client.meta.service_model.signing_name, operation, resource)
            if call not in seen:
                seen.add(call)
                with Path(_FILE).open("a") as file:
                    file.write(json.dumps([_FUNCTION, *call]) + "\n")
        return original(client, operation_name, api_params)

    client_module.BaseClient._make_api_call = make_api_call


class _ClientFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):  # noqa: ARG002 - the signature of a finder
        if name != "botocore.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def execute_and_install(module):
            execute(module)
            _install(module)

        spec.loader.exec_module = execute_and_install
        return spec


if _FUNCTION and _FILE:
    sys.meta_path.insert(0, _ClientFinder())
