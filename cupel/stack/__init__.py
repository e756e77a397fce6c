"""The whole stack on this machine: an emulator, and template.yaml built for and deployed to it."""
