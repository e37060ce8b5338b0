"""`python -m scaffale.server.cli`: the command line without its console script."""

from __future__ import annotations

from scaffale.server.cli import entry

entry()
