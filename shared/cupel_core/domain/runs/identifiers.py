import uuid


def transcript_id(run_id: str, index: int) -> str:
    return f"{run_id}-{index}"


def thread_id(run_id: str, index: int, retry_round: int) -> str:
    """Return the id of a probe's conversation for an agent: stable across redeliveries, different in each retry
    round."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"cupel:{run_id}:{index}:{retry_round}"))
