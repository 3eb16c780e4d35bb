"""Headrace: one log, every client."""

__version__ = "0.1.0"
