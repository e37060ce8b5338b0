"""The table of all tools, in the order in which clients see them."""

from __future__ import annotations

from scaffale.server.mcp.curation_tools import CURATION_TOOLS
from scaffale.server.mcp.docs_tools import DOCS_TOOLS
from scaffale.server.mcp.exchange_tools import EXCHANGE_TOOLS
from scaffale.server.mcp.ledger_tools import LEDGER_TOOLS
from scaffale.server.mcp.memory_tools import MEMORY_TOOLS

TOOLS = (*MEMORY_TOOLS, *CURATION_TOOLS, *EXCHANGE_TOOLS, *DOCS_TOOLS, *LEDGER_TOOLS)
