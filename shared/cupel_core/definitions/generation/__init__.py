"""Generation of scenarios from templates, and by models."""
