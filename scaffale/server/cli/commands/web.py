"""The command that serves the web page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.server.cli.commands import DONE, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def ui_arguments(parser: argparse.ArgumentParser) -> None:
    """Where, and how to begin."""
    parser.add_argument("--port", type=shared.at_least(0), help="the port; 0 takes a free one (default: 7340, or a free one)")
    parser.add_argument("--no-open", action="store_true", help="print the address and open no browser")
    parser.add_argument(
        "--no-token", action="store_true", help="no token in the address: every user of this machine may read then"
    )


def ui(arguments: Arguments, output: Output) -> int:
    """Serve the page until Ctrl-C."""
    import secrets

    from scaffale.server.web import serve

    def ready(address: str) -> None:
        if output.as_json:
            import json
            import sys

            sys.stdout.write(json.dumps({"ok": True, "address": address}) + "\n")
            sys.stdout.flush()
        else:
            output.now(f"Scaffale is at {address}   (Ctrl-C ends it)")
        if not arguments.no_open:
            _open(address)

    token = None if arguments.no_token else secrets.token_urlsafe(18)
    serve(shared.settings(), arguments.port, token, shared.login(), ready)
    return DONE


def _open(address: str) -> None:
    """Show it in the person's browser, if there is one; whether that works is no matter of ours."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
