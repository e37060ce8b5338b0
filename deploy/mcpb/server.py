"""What the bundle starts: `scaffale serve` on stdin and stdout."""

import sys

from scaffale.server.cli import entry

sys.argv[1:] = ["serve"]
entry()
