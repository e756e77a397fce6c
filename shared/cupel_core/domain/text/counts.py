def count_of(number: int, noun: str) -> str:
    """Return `1 probe`, or `2,000 probes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
