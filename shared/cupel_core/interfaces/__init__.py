"""The list of operations, and what HTTP, GraphQL and MCP share when they serve it."""
