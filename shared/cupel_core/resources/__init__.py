"""Who takes part in an evaluation: personas, connectors, judges; and the evals that bring them together."""
