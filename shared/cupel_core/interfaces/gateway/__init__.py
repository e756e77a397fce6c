"""Reads HTTP requests as API Gateway passes them to a function, and builds the responses that it expects."""
