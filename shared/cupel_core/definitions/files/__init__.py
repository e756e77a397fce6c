"""A workspace's images and PDFs: uploaded, or taken from the data URLs of messages."""
