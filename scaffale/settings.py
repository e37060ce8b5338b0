"""One immutable `Settings` value: every key, its default, and where its value came from.

Precedence, lowest first: defaults, `memory.config.json` (named by `MEMORY_CONFIG`), the launcher's environment, and
then `.env` files, which are somebody else's: the nearest one above the working folder and that of the target project.
A `.env` may set the domain keys of its own project and lower a limit or a root. It never widens anything, moves a
store, switches off the audit or allows a secret: such a line is ignored with a warning.

Nothing here reads the process environment, and nothing of a file ever gets into it.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scaffale import files
from scaffale.errors import InvalidParam, LimitExceeded

ENV_MAX_BYTES = 256 * 1024
CONFIG_MAX_BYTES = 1024 * 1024
LEXICAL_BACKENDS = ("auto", "tantivy", "fts5", "like")
BINDINGS = ("warn", "strict")

_SETTLED_NS = 2_000_000_000  # a file written less than this ago may change again within one tick of its time stamp
_CACHE_LIMIT = 256


class Settings(NamedTuple):
    """What the program may do and where its stores lie. Paths are absolute, roots are real paths.

    `sources` says for each key (`MEMORY_MAX_TAGS`, ...) where its value came from: `default`, `environment`,
    `memory.config.json at PATH` or `.env of FOLDER`. `warnings` names what was ignored while loading.
    `allowed_secrets` holds kinds of secrets (`scaffale.secrets`) that may be stored as they are.
    Empty `memory_allowed_roots`: the project folder of a call is its root. Empty `docs_allowed_roots`: a server on
    stdio scans what its user may read, one on HTTP nothing.
    `milvus_uri` and `milvus_token` name a team's Milvus; without them it runs embedded. `vector_folder` is where the process
    with the model listens; `vector_deadline_ms` how long a question waits for its vector.
    """

    memory_db_path: str
    docs_db_path: str
    memory_allowed_roots: tuple[str, ...] = ()
    docs_allowed_roots: tuple[str, ...] = ()
    max_entry_bytes: int = 200_000
    max_search_results: int = 50
    max_tags: int = 20
    max_title_chars: int = 200
    max_summary_chars: int = 500
    max_source_ref_chars: int = 400
    max_source_uri_chars: int = 1000
    max_project_id_chars: int = 200
    max_scope_chars: int = 120
    max_topic_chars: int = 200
    max_tag_chars: int = 80
    docs_max_file_bytes: int = 10 * 1024 * 1024
    audit_log: bool = True
    audit_jsonl: str | None = None
    project_binding: str = "warn"
    allowed_secrets: tuple[str, ...] = ()
    review_elicitation: bool = False
    memory_lexical_backend: str = "auto"
    docs_lexical_backend: str = "auto"
    memory_enable_vector: bool = False
    memory_vector_backend: str = "none"
    docs_enable_vector: bool = False
    docs_vector_backend: str = "none"
    vector_folder: str = ""
    vector_deadline_ms: int = 150
    milvus_uri: str = ""
    milvus_token: str = ""
    debug: bool = False
    config: str | None = None
    sources: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()


class DomainKeys(NamedTuple):
    """What a project's own `.env` says about the project. Texts are as written; `None` means not said.

    `claimed_by` is the folder whose `.env` named the `project_id`.
    """

    project_id: str | None = None
    display_name: str | None = None
    scope_default: str | None = None
    allowed_tags: tuple[str, ...] | None = None
    claimed_by: str | None = None


class ProjectSettings(NamedTuple):
    """Settings in force for one project, its domain keys, and what of its `.env` was ignored."""

    settings: Settings
    keys: DomainKeys = DomainKeys()
    warnings: tuple[str, ...] = ()


# --- loading -------------------------------------------------------------------------------------------------------


def load(environ: Mapping[str, str], cwd: str) -> Settings:
    """The settings of a process. Raises `InvalidParam` naming key, value and source when a value does not parse."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")
    launcher = _Place("environment", cwd, home)
    values: dict[str, Any] = {
        "memory_db_path": _path("~/.mcp-servers/memory/memory.sqlite", launcher),
        "docs_db_path": _path("~/.mcp-servers/docs/docs.sqlite", launcher),
        "vector_folder": _path("~/.mcp-servers/embedder", launcher),
    }
    sources = dict.fromkeys(KEYS, "default")
    warnings: list[str] = []
    if environ.get("MEMORY_CONFIG"):
        path = _path(environ["MEMORY_CONFIG"], launcher)
        place = _Place(f"memory.config.json at {path}", os.path.dirname(path), home)
        said, warnings = _config(path)
        _take(said, place, values, sources)
    _take(environ, launcher, values, sources)
    warnings += [
        f"{name} in the environment is ignored: it belongs in the .env of the project"
        for name in _DOMAIN_KEYS
        if environ.get(name)
    ]
    settings = Settings(**values, sources=sources)
    _check_apart(settings)
    local = _discover(cwd, settings.memory_allowed_roots)
    if local is not None:
        said, ignored = _env_of(local, settings.memory_allowed_roots)
        settings, more = _narrow(settings, said, local, settings.memory_allowed_roots)
        warnings += ignored + more
    return settings._replace(warnings=tuple(warnings))


def _check_apart(settings: Settings) -> None:
    """Each store is a file of its own, which nothing else may open: a second hand on it drops SQLite's locks."""
    memory, docs = files.real(settings.memory_db_path), files.real(settings.docs_db_path)
    if os.path.normcase(memory) == os.path.normcase(docs):
        raise InvalidParam(f"MEMORY_DB_PATH and DOCS_DB_PATH both name {memory}; memory and documents never share a file")
    if settings.audit_jsonl is None:
        return
    mirror = os.path.normcase(files.real(settings.audit_jsonl))
    if mirror in [os.path.normcase(store + part) for store in (memory, docs) for part in ("", "-wal", "-shm", "-journal")]:
        raise InvalidParam(f"MEMORY_AUDIT_JSONL names {settings.audit_jsonl}, which belongs to a store; choose another file")


def for_project(settings: Settings, folder: str, *, top: str | None = None) -> ProjectSettings:
    """What the `.env` of the project makes of the settings. `folder` and `top` are real paths.

    `top` is the folder of the repository that `folder` lies in: its `.env` speaks for the whole, that of `folder`
    has the last word. Costs one stat for each when there is none.
    """
    roots = settings.memory_allowed_roots
    whole = top is not None and top != folder and (not roots or _inside_any(top, roots))
    folders = (top, folder) if top is not None and whole else (folder,)
    stamps = [_stamp(os.path.join(each, ".env")) for each in folders]
    if not any(stamps):
        return ProjectSettings(settings)
    remembered = _remembered.get(folders)
    if remembered is not None and remembered[0] is settings and remembered[1] == stamps:
        return remembered[2]
    answer = _read_project(settings, folders)
    if _settled(stamps):
        if len(_remembered) >= _CACHE_LIMIT:
            _remembered.clear()
        _remembered[folders] = (settings, stamps, answer)
    return answer


def _read_project(settings: Settings, folders: Sequence[str]) -> ProjectSettings:
    keys = DomainKeys()
    warnings: list[str] = []
    for folder in folders:
        said, ignored = _env_of(folder, (*settings.memory_allowed_roots, folder))
        settings, more = _narrow(settings, said, folder, settings.memory_allowed_roots or (folders[-1],))
        keys = _domain(keys, said, folder)
        warnings += ignored + more
    return ProjectSettings(settings, keys, tuple(warnings))


# --- keys ----------------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a value stands: its name for messages, and the folder that relative paths start from."""

    source: str
    folder: str
    home: str


class _Key(NamedTuple):
    """A field and how a value becomes one. `limit`: a `.env` may lower it."""

    field: str
    parse: Callable[[object, _Place], Any]
    limit: bool = False


def _text(value: object, place: _Place) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value.strip()


def _switch(value: object, place: _Place) -> bool:
    said = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    word = str(value).strip().lower()
    if word not in said:
        raise ValueError("1 or 0")
    return said[word]


def _number(least: int) -> Callable[[object, _Place], int]:
    def parse(value: object, place: _Place) -> int:
        word = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch("[0-9]{1,15}", word) or int(word) < least:
            raise ValueError(f"a whole number, {least} or more")
        return int(word)

    return parse


def _one_of(*words: str) -> Callable[[object, _Place], str]:
    def parse(value: object, place: _Place) -> str:
        word = _text(value, place).lower()
        if word not in words:
            raise ValueError("one of " + ", ".join(words))
        return word

    return parse


def _name(value: object, place: _Place) -> str:
    word = _text(value, place).lower()
    if not re.fullmatch("[a-z0-9_-]{1,40}", word):
        raise ValueError("a short name of letters, digits, - and _")
    return word


def _path(value: object, place: _Place) -> str:
    text = _text(value, place)
    if "\0" in text:
        raise ValueError("a path")
    if text == "~" or text.startswith(("~/", "~" + os.sep)):
        text = place.home + text[1:]
    return os.path.abspath(os.path.join(place.folder, os.path.expanduser(text)))


def _paths(value: object, place: _Place) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else _text(value, place).split(os.pathsep)
    roots = [files.real(_path(part, place)) for part in parts if _text(part, place)]
    return tuple(dict.fromkeys(roots))


def _words(value: object, place: _Place) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else _text(value, place).split(",")
    return tuple(dict.fromkeys(word for part in parts if (word := _text(part, place))))


KEYS: Mapping[str, _Key] = {
    "MEMORY_DB_PATH": _Key("memory_db_path", _path),
    "DOCS_DB_PATH": _Key("docs_db_path", _path),
    "MEMORY_ALLOWED_ROOTS": _Key("memory_allowed_roots", _paths),
    "DOCS_ALLOWED_ROOTS": _Key("docs_allowed_roots", _paths),
    "MEMORY_MAX_ENTRY_BYTES": _Key("max_entry_bytes", _number(1), limit=True),
    "MEMORY_MAX_SEARCH_RESULTS": _Key("max_search_results", _number(1), limit=True),
    "MEMORY_MAX_TAGS": _Key("max_tags", _number(0), limit=True),
    "MEMORY_MAX_TITLE_CHARS": _Key("max_title_chars", _number(1), limit=True),
    "MEMORY_MAX_SUMMARY_CHARS": _Key("max_summary_chars", _number(1), limit=True),
    "MEMORY_MAX_SOURCE_REF_CHARS": _Key("max_source_ref_chars", _number(1), limit=True),
    "MEMORY_MAX_SOURCE_URI_CHARS": _Key("max_source_uri_chars", _number(1), limit=True),
    "MEMORY_MAX_PROJECT_ID_CHARS": _Key("max_project_id_chars", _number(1), limit=True),
    "MEMORY_MAX_SCOPE_CHARS": _Key("max_scope_chars", _number(1), limit=True),
    "MEMORY_MAX_TOPIC_CHARS": _Key("max_topic_chars", _number(1), limit=True),
    "MEMORY_MAX_TAG_CHARS": _Key("max_tag_chars", _number(1), limit=True),
    "DOCS_MAX_FILE_BYTES": _Key("docs_max_file_bytes", _number(1)),
    "MEMORY_AUDIT_LOG": _Key("audit_log", _switch),
    "MEMORY_AUDIT_JSONL": _Key("audit_jsonl", _path),
    "MEMORY_PROJECT_BINDING": _Key("project_binding", _one_of(*BINDINGS)),
    "MEMORY_ALLOWED_SECRETS": _Key("allowed_secrets", _words),
    "MEMORY_REVIEW_ELICITATION": _Key("review_elicitation", _switch),
    "MEMORY_LEXICAL_BACKEND": _Key("memory_lexical_backend", _one_of(*LEXICAL_BACKENDS)),
    "DOCS_LEXICAL_BACKEND": _Key("docs_lexical_backend", _one_of(*LEXICAL_BACKENDS)),
    "MEMORY_ENABLE_VECTOR": _Key("memory_enable_vector", _switch),
    "MEMORY_VECTOR_BACKEND": _Key("memory_vector_backend", _name),
    "DOCS_ENABLE_VECTOR": _Key("docs_enable_vector", _switch),
    "DOCS_VECTOR_BACKEND": _Key("docs_vector_backend", _name),
    "MEMORY_VECTOR_FOLDER": _Key("vector_folder", _path),
    "MEMORY_VECTOR_DEADLINE_MS": _Key("vector_deadline_ms", _number(0)),
    "MEMORY_MILVUS_URI": _Key("milvus_uri", _text),
    "MEMORY_MILVUS_TOKEN": _Key("milvus_token", _text),
    "MEMORY_DEBUG": _Key("debug", _switch),
    "MEMORY_CONFIG": _Key("config", _path),
}
_DOMAIN_KEYS = ("MEMORY_PROJECT_ID", "MEMORY_PROJECT_DISPLAY_NAME", "MEMORY_SCOPE_DEFAULT", "MEMORY_ALLOWED_TAGS")


def _take(said: Mapping[str, Any], place: _Place, values: dict[str, Any], sources: dict[str, str]) -> None:
    """Parse what is said of our keys into values. Empty means not said."""
    for name, key in KEYS.items():
        value = said.get(name)
        if value is None or value == "":
            continue
        values[key.field] = _parsed(name, value, place)
        sources[name] = place.source


def _parsed(name: str, value: object, place: _Place) -> Any:  # noqa: ANN401  (each key has its own type)
    try:
        return KEYS[name].parse(value, place)
    except ValueError as error:
        raise InvalidParam(f"{name} is {repr(value)[:80]} in {place.source}; it must be {error}") from error


def _config(path: str) -> tuple[dict[str, Any], list[str]]:
    """The launcher's configuration file by names of the environment, and a warning for each key that means nothing."""
    import json

    try:
        said = json.loads(files.read_regular(files.real(path), CONFIG_MAX_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise InvalidParam(f"MEMORY_CONFIG names {path}, which cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidParam(f"MEMORY_CONFIG names {path}, which is not JSON: {error}") from error
    if not isinstance(said, dict):
        raise InvalidParam(f"MEMORY_CONFIG names {path}, which holds no JSON object")
    names = {key.field: name for name, key in KEYS.items()}
    known: dict[str, Any] = {}
    warnings: list[str] = []
    for word, value in said.items():
        name = names.get(word, word.upper())
        if name in KEYS and name != "MEMORY_CONFIG":
            known[name] = value
        else:
            warnings.append(f"memory.config.json at {path}: {word!r} is not a key of this file; it is ignored")
    return known, warnings


# --- .env files ----------------------------------------------------------------------------------------------------

_Stamp = tuple[int, int, int, int, int]
_remembered: dict[tuple[str, ...], tuple[Settings, list[_Stamp | None], ProjectSettings]] = {}


def _stamp(path: str) -> _Stamp | None:
    """What changes when the file does; `None` when there is none."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            info = os.stat(path)
    except OSError as error:
        return None if isinstance(error, FileNotFoundError | NotADirectoryError) else (0, 0, 0, 0, 0)
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, info.st_dev


def _settled(stamps: Iterable[_Stamp | None]) -> bool:
    newest = max(max(stamp[0], stamp[1]) for stamp in stamps if stamp)
    return 0 < newest < time.time_ns() - _SETTLED_NS


def _discover(cwd: str, roots: tuple[str, ...]) -> str | None:
    """The nearest folder with a `.env`, from the working folder upwards, inside the roots when there are any."""
    folder = files.real(cwd)
    while not roots or _inside_any(folder, roots):
        path = os.path.join(folder, ".env")
        if os.path.lexists(path) and not os.path.isdir(path):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return None


def _env_of(folder: str, roots: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The `MEMORY_*` keys of a folder's `.env`, which may be anything, or a warning why it was not read."""
    path = os.path.join(folder, ".env")
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):  # people keep virtual environments under this name
            return {}, []
        real = files.real(path) if stat.S_ISLNK(mode) else path
        if roots and not _inside_any(real, roots):
            return {}, [f"{path} is ignored: it is a symbolic link that leaves the allowed roots"]
        data = files.read_regular(real, ENV_MAX_BYTES)
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [f"{path} is ignored: {error.strerror}"]
    except (InvalidParam, LimitExceeded) as error:
        return {}, [f"{path} is ignored: {error.detail}"]
    if b"\0" in data:
        return {}, [f"{path} is ignored: it is binary, or UTF-16; save it as UTF-8"]
    if b"MEMORY_" not in data:
        return {}, []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return {}, [f"{path} is ignored: it is not UTF-8"]
    from scaffale import envfile

    said = envfile.parse(text)
    return {name: value for name, value in said.items() if name.startswith("MEMORY_") and value}, []


def _narrow(
    settings: Settings, said: Mapping[str, str], folder: str, roots: tuple[str, ...]
) -> tuple[Settings, list[str]]:
    """Settings with the limits and roots that the `.env` lowers, and a warning for each line that asks for more."""
    place = _Place(f".env of {folder}", folder, "~")
    changes: dict[str, Any] = {}
    sources: dict[str, str] = {}
    warnings: list[str] = []
    for name in sorted(said.keys() & KEYS.keys()):
        current = getattr(settings, KEYS[name].field)
        value, wider = _lowered(name, said[name], place, current, roots)
        if wider:
            warnings.append(f"{name} in the .env of {folder} is ignored: {_why(name, current)}")
        if value != current:
            changes[KEYS[name].field] = value
            sources[name] = place.source
    if changes:
        settings = settings._replace(**changes, sources={**settings.sources, **sources})
    return settings, warnings


def _lowered(name: str, text: str, place: _Place, current: Any, roots: tuple[str, ...]) -> tuple[Any, bool]:  # noqa: ANN401
    """The value that a `.env` may give the key, and whether it asked for more than that."""
    if KEYS[name].limit:
        wanted = _parsed(name, text, place)
        return min(wanted, current), wanted > current
    if name == "MEMORY_ALLOWED_ROOTS":
        wanted = _parsed(name, text, place)
        inside = tuple(root for root in wanted if _inside_any(root, roots))
        return inside or current, inside != wanted
    return current, not _same(name, text, place, current)


def _same(name: str, value: str, place: _Place, current: object) -> bool:
    try:
        return bool(KEYS[name].parse(value, place) == current)
    except ValueError:
        return False


def _why(name: str, current: object) -> str:
    if KEYS[name].limit:
        return f"a project may lower this limit, which is {current}, not raise it"
    if name == "MEMORY_ALLOWED_ROOTS":
        return "a project may only name roots inside the allowed ones"
    return "only the launcher's configuration may set it"


def _domain(keys: DomainKeys, said: Mapping[str, str], folder: str) -> DomainKeys:
    """The domain keys with those of one more `.env` on top."""
    if "MEMORY_PROJECT_ID" in said:
        keys = keys._replace(project_id=said["MEMORY_PROJECT_ID"], claimed_by=folder)
    if "MEMORY_PROJECT_DISPLAY_NAME" in said:
        keys = keys._replace(display_name=said["MEMORY_PROJECT_DISPLAY_NAME"])
    if "MEMORY_SCOPE_DEFAULT" in said:
        keys = keys._replace(scope_default=said["MEMORY_SCOPE_DEFAULT"])
    if "MEMORY_ALLOWED_TAGS" in said:
        tags = _words(said["MEMORY_ALLOWED_TAGS"], _Place("", folder, ""))
        keys = keys._replace(allowed_tags=tags or None)
    return keys


def _inside_any(path: str, roots: tuple[str, ...]) -> bool:
    return any(files.is_inside(path, root) for root in roots)
