"""Named resources of a workspace: personas, connectors and evals; and its evaluation settings."""
