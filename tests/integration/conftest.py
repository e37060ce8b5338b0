"""Integration tests borrow the small stand-ins of the unit tests."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "unit", "server"))
