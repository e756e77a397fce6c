"""Limits of the connections that a process opens to models, agents and evaluators."""

MAX_CONNECTIONS = 128
"""More than any consumer has in flight, so that no request waits for a connection."""
KEEPALIVE_SECONDS = 60.0
CONNECT_SECONDS = 10.0
