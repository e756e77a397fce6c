VERSION = "0.1.0"
"""Functions read the release from here, because they have no package metadata."""
