"""Where hosts come in. Hosts run this file by its path, since that needs no search for packages: `python -I -S PATH HOST`."""

from __future__ import annotations

import sys

if not __package__:
    sys.path.insert(0, __file__[: -len("/scaffale/server/hooks/__main__.py")])

from scaffale.server.hooks.answer import main

sys.exit(main())
