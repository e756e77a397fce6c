"""Runs the stack on this machine: an emulator of the cloud services, and template.yaml built and deployed to it."""
