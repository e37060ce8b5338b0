"""The real server, as a launcher starts it: `python real_server.py [TOOLS [PROJECT]]`, settings from the environment."""

import os
import sys

from scaffale import settings
from scaffale.server.mcp import serve

sys.exit(serve(settings.load(os.environ, os.getcwd()), *sys.argv[1:]))
