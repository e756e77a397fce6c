"""Lists the operations, and contains the code that HTTP, GraphQL and MCP share when they serve them."""
