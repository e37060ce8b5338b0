"""The `.env` reader against python-dotenv, and what it must survive."""

from io import StringIO
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale import envfile

WORDS = ["A", "B", "export ", "MEMORY_X", "=", " = ", "'", '"', "\\", "\\n", "x", "é", "\ufeff"]
PIECES = st.sampled_from([*WORDS, "#", " #", " ", "\t", "\n", "\r\n", "\r"])


def expected(text):
    dotenv = pytest.importorskip("dotenv")
    values = dotenv.dotenv_values(stream=StringIO(text, newline=""), interpolate=False)
    return {key: value for key, value in values.items() if value is not None}


@given(st.lists(PIECES, max_size=30).map("".join))
def test_reads_as_python_dotenv_does(text):
    assert envfile.parse(text) == expected(text)


def test_reads_what_people_write():
    text = """
# project
export MEMORY_PROJECT_ID=cliente-x/app   # the id
MEMORY_PROJECT_DISPLAY_NAME="Cliente X \\"App\\""
MEMORY_SCOPE_DEFAULT='back end'
MEMORY_ALLOWED_TAGS = decision,bug
EMPTY=
NOTE="first
MEMORY_PROJECT_ID=inside-a-value
last"
"""
    assert envfile.parse(text) == {
        "MEMORY_PROJECT_ID": "cliente-x/app",
        "MEMORY_PROJECT_DISPLAY_NAME": 'Cliente X "App"',
        "MEMORY_SCOPE_DEFAULT": "back end",
        "MEMORY_ALLOWED_TAGS": "decision,bug",
        "EMPTY": "",
        "NOTE": "first\nMEMORY_PROJECT_ID=inside-a-value\nlast",
    }


def test_dollar_braces_stay_as_written(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "leaked")
    assert envfile.parse("MEMORY_PROJECT_ID=${SECRET_OF_THE_HOST}") == {"MEMORY_PROJECT_ID": "${SECRET_OF_THE_HOST}"}


@pytest.mark.parametrize("pump", ["'", '"', "A='", "A=\"\\", "A='\\'", " ", "#", "A= ", "export ", "\\", "A\n", "'a'"])
def test_hostile_files_cost_linear_time(pump):
    text = pump * (256 * 1024 // len(pump))
    start = process_time()
    envfile.parse(text)
    envfile.parse("A='" + text)
    assert process_time() - start < 2.0
