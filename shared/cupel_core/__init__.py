VERSION = "0.1.0"
"""Of this release; functions have no package metadata."""
