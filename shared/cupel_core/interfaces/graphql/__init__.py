"""Serves GraphQL: the schema, its resolvers, and the limits of a query's cost. It needs graphql-core."""
