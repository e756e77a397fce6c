"""A run in the formats of other tools. Transcripts are read and written one by one, whatever their number."""
