"""`python -m scaffale.server.cli`: the command line without its console script."""

from scaffale.server.cli import entry

entry()
