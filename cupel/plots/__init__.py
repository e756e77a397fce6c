"""Draws figures of analyses as files. Only this package imports matplotlib (`cupel[plots]`)."""
