"""Exports a run in other tools' formats. Transcripts are read and written one at a time."""
