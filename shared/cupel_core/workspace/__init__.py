"""A workspace as a whole: access, webhooks, queues, and the sweeper that repairs and erases."""
