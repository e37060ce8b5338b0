"""A server over fake halls, as a process: `python fake_server.py [TOOLS [PROJECT]]`."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "unit", "server"))

from fake_halls import opened

from scaffale.server.mcp import server, stdio


def main() -> None:
    tools, project = (*sys.argv[1:], "default")[0], (*sys.argv[1:], None, None)[1]
    served = server.build(opened().halls, tools, project)

    async def serve(incoming, outgoing):
        print("a stray line that must not reach the client", flush=True)
        await served.run(incoming, outgoing, served.create_initialization_options())

    stdio.run(serve)


main()
