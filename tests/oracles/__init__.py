"""Values computed by reference implementations that are not among the project's requirements, frozen as JSON."""

from pathlib import Path

FROZEN_FOLDER = Path(__file__).parent
