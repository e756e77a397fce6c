"""HTTP requests as API Gateway passes them to a function, and the responses that it expects."""
