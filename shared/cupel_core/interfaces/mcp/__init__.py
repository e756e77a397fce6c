"""Implements the MCP server: the protocol, its tools, resources and prompts."""
