"""Scenarios from templates and from models."""
