"""What a tool is: one row of data that says how it looks on the wire and which verb of which hall answers it.

Rules of this file: rows are plain values, made at import and never changed, so that the tool list is the same for
every client of a version. Nothing here knows the SDK; what a row shows is built by `ToolSpec.wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.server.mcp.arguments import Arguments, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scaffale.server.halls import Halls

    Json = Any  # any value of JSON
    Schema = dict[str, Any]
    Answer = dict[str, Any]  # an answer as JSON: plain values only
    Progress = Callable[[int, int, str], None]

TOOL_SETS = ("default", "all", "memory", "docs", "ledger")


class Call(NamedTuple):
    """All that a verb gets to see of a call. `actor` is who asks, for the audit."""

    halls: Halls
    arguments: dict[str, Any]
    actor: str
    progress: Progress


class Verb(NamedTuple):
    """One thing that a tool does. `run` blocks and returns the hall's answer; `speak` puts its JSON into words.

    `listing` names the list in the answer that older clients parse from the first text block. A `bulk` verb may run
    for minutes, and never takes the place of quick ones.
    """

    run: Callable[[Call], Any]
    speak: Callable[[Answer], str]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    listing: str | None = None
    bulk: bool = False


class Prepared(NamedTuple):
    """A call that may be made: its verb, checked arguments, and what was odd about them."""

    verb: Verb
    arguments: dict[str, Any]
    warnings: tuple[str, ...]


class Hints(NamedTuple):
    """The annotations of the protocol. They are true for everything that the tool can do."""

    read_only: bool
    destructive: bool
    idempotent: bool


class ToolSpec(NamedTuple):
    """A tool. `verbs` is keyed by the argument `action`, or holds the one verb under the empty string.

    What is absent from a call is not passed on, so that the verb's own defaults hold.
    """

    name: str
    title: str
    description: str
    hints: Hints
    schema: Schema
    answers: Schema
    arguments: Arguments
    verbs: Mapping[str, Verb]
    domain: str
    by_default: bool = True

    def prepare(self, given: Mapping[str, Any] | None) -> Prepared:
        """Check the arguments and choose the verb. Raises `InvalidParam` or `LimitExceeded`."""
        checked = self.arguments(given)
        if "" in self.verbs:
            return Prepared(self.verbs[""], checked, ())
        action = checked.pop("action")
        verb = self.verbs[action]
        require(verb.required, checked, by=f" for the action {action}")
        known = verb.required + verb.optional
        unused = [name for name in checked if name not in known]
        warnings = (f"the action {action} takes no {', '.join(unused)}: ignored",) if unused else ()
        return Prepared(verb, {name: checked[name] for name in known if name in checked}, warnings)

    def wire(self) -> dict[str, Any]:
        """The tool as the protocol lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "outputSchema": self.answers,
            "annotations": {
                "readOnlyHint": self.hints.read_only,
                "destructiveHint": self.hints.destructive,
                "idempotentHint": self.hints.idempotent,
                "openWorldHint": False,
            },
        }


def tool(
    *,
    name: str,
    title: str,
    description: str,
    hints: Hints,
    schema: Schema,
    answers: Schema,
    verbs: Mapping[str, Verb],
    domain: str,
    text_too: tuple[str, ...] = (),
    by_default: bool = True,
) -> ToolSpec:
    """A row, with its schema compiled. `text_too` names arrays that also take one plain string."""
    arguments = Arguments(schema, text_too=text_too)
    return ToolSpec(name, title, description, hints, schema, answers, arguments, verbs, domain, by_default)


def one(run: Callable[[Call], Any], speak: Callable[[Answer], str], *, bulk: bool = False) -> dict[str, Verb]:
    """The verbs of a tool that does one thing."""
    return {"": Verb(run, speak, bulk=bulk)}


def choose(specs: tuple[ToolSpec, ...], tools: str) -> tuple[ToolSpec, ...]:
    """The rows of a tool set, in their fixed order. Raises `InvalidParam` for an unknown set."""
    if tools not in TOOL_SETS:
        raise InvalidParam(f"tools must be one of: {', '.join(TOOL_SETS)}")
    if tools == "default":
        return tuple(spec for spec in specs if spec.by_default)
    return specs if tools == "all" else tuple(spec for spec in specs if spec.domain == tools)


# --- the vocabulary of schemas --------------------------------------------------------------------------------------


def takes(*required: str, **properties: Schema) -> Schema:
    """An input schema: a flat object that takes exactly these properties."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return schema


def gives(**properties: Schema) -> Schema:
    """An output schema. Only `ok` is certain: errors have the same shape, and some clients check them against it."""
    return {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}, **properties}}


def text(description: str | None = None, **more: object) -> Schema:
    """A string."""
    return _schema("string", description, more)


def choice(*allowed: str, description: str | None = None, **more: object) -> Schema:
    """One of these strings."""
    return _schema("string", description, {"enum": list(allowed), **more})


def integer(description: str | None = None, **more: object) -> Schema:
    """A whole number."""
    return _schema("integer", description, more)


def number(description: str | None = None, **more: object) -> Schema:
    """A number."""
    return _schema("number", description, more)


def flag(description: str | None = None, **more: object) -> Schema:
    """True or false."""
    return _schema("boolean", description, more)


def texts(description: str | None = None, **more: object) -> Schema:
    """An array of strings."""
    return _schema("array", description, {"items": {"type": "string"}, **more})


def _schema(kind: str, description: str | None, more: dict[str, object]) -> Schema:
    return {"type": kind, **more, **({"description": description} if description else {})}
