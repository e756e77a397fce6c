"""A workspace's webhook: its settings, and the calls that report runs and probes."""
