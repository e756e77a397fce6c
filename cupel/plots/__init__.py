"""Figures of analyses as files. matplotlib is imported here alone (`cupel[plots]`)."""
