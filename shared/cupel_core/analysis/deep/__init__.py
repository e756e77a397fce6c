"""The figures of a deep analysis, computed with numpy, which only the analyze function has (and `cupel[analysis]`)."""
