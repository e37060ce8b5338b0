"""Pictures of the pages for the documentation: `python -m tests.browser.shots` draws them into docs/screenshots.

They show the tour's own data (`scaffale demo`), at the size of a small window.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "docs" / "screenshots"
VIEWS = {
    "search": "?q=signing+key",
    "document": "document/{checkout}",
    "map": "map",
    "map-dark": "map",
    "memory": "memory/project?id=demo",
}


def main() -> int:
    """Draw them all."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import BROWSERS, OPTIONS

    program = next(filter(None, map(shutil.which, BROWSERS)))
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "scaffale.server.cli", "demo", "--ui"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "HOME": home, "BROWSER": "true"},
        )
        address = next(line.split(" at ")[1].split()[0] for line in process.stdout if line.startswith("Scaffale is at"))
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program, args=OPTIONS)
            for name, path in VIEWS.items():
                scheme = "dark" if name.endswith("dark") else "light"
                tab = browser.new_page(viewport={"width": 1000, "height": 640}, color_scheme=scheme)
                known = tab.request.get(f"{address}map/picture").json()["documents"]
                checkout = next(id for id, _, title, _ in known if title == "Checkout")
                tab.goto(address + path.format(checkout=checkout))
                tab.wait_for_timeout(600)
                tab.screenshot(path=FOLDER / f"{name}.png")
            browser.close()
        process.terminate()
        process.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
