"""GraphQL over the capabilities: the schema, its resolvers, and what a query may cost. Needs graphql-core."""
