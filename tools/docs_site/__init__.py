"""Builds the documentation site: `make docs` writes the reference pages from the code and builds `docs/` with
Zensical."""
