"""What each field of the schema calls, by subject."""
