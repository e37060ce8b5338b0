"""Engines behind narrow protocols. They are strangers to one another and are imported by name, when needed."""
