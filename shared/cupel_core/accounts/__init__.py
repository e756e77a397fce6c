"""The accounts that a workspace has with providers: their keys, limits and leases."""
