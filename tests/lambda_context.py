"""A Lambda context for handlers called by tests."""


class Context:
    function_name = "cupel-test"
    memory_limit_in_mb = 4_096  # of the whole test process
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:cupel-test"
    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 300_000
