"""The public contract: request and response models, and the operations with their roles. Used by HTTP, GraphQL, MCP
and in-process evaluation."""
