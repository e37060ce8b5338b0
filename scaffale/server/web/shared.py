"""What pages share: the halls, templates, filters for stored text, and the check before anything is changed."""

from __future__ import annotations

import hmac
import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import HTMLResponse

from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.server.render import clean, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment
    from markupsafe import Markup
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from scaffale.server.halls import Halls
    from scaffale.settings import Settings

_MARKS = re.compile(r">>>(.*?)<<<", re.DOTALL)
MOST_OFFSET = 1_000_000


class Web(NamedTuple):
    """What every page can reach. `pass_` is the token that changes something, `actor` who does so."""

    halls: Halls
    settings: Settings
    actor: str
    pass_: str


def web(request: Request) -> Web:
    """The halls and the rest, for a handler."""
    found: Web = request.app.state.web
    return found


def page(request: Request, template: str, *, http_status: int = 200, **values: Any) -> Response:  # noqa: ANN401
    """A template as an answer. Nothing of it is kept by the browser."""
    known = {
        "base": request.scope.get("root_path", ""),
        "path": request.url.path.removeprefix(request.scope.get("root_path", "")),
        "pass": web(request).pass_,
        "query": request.query_params,
    }
    html = environment().get_template(template).render(known | values)
    return HTMLResponse(html, http_status, headers={"Cache-Control": "no-store"})


async def form_of(request: Request) -> FormData:
    """The form that was sent, from one of our own pages. Raises `InvalidParam` when it was not."""
    form = await request.form(max_files=0, max_fields=500, max_part_size=1024 * 1024)
    if not hmac.compare_digest(str(form.get("pass", "")).encode(), web(request).pass_.encode()):
        raise InvalidParam("this form is of an earlier start of the program: load the page again")
    return form


def number(given: Mapping[str, str], name: str, default: int, most: int = MOST_OFFSET) -> int:
    """A whole number of the address, kept within bounds. Raises `InvalidParam` when it is none."""
    text = given.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        raise InvalidParam(f"{name}: must be a whole number")
    return min(int(text[:10]), most)


def tried(verb: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a verb answers, or why it cannot: one domain that fails does not take the page with it."""
    try:
        return verb(), None
    except ScaffaleError as error:
        return None, error.detail


@cache
def environment() -> Environment:
    """The templates. Everything in them is escaped unless it was made as HTML on purpose."""
    import jinja2

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"marked": marked, "shown": visible, "day": day, "bytes": amount, "address": address}
    made.finalize = _shown
    return made


def _shown(value: Any) -> Any:  # noqa: ANN401
    """Text that is no HTML of ours without characters that nobody sees."""
    return visible(value) if type(value) is str else value


def marked(snippet: str) -> Markup:
    """An excerpt, its matches as `<mark>`."""
    from markupsafe import Markup, escape

    parts = _MARKS.split(visible(clean(snippet)))
    return Markup("").join(Markup("<mark>{}</mark>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts))


def address(asked: Any, **changed: Any) -> str:  # noqa: ANN401  (search.Asked)
    """The query of an address that asks the same but for what is changed."""
    from urllib.parse import urlencode

    said = asked._replace(**changed)
    pairs = [("q", said.query), ("where", said.where), ("shelf", said.shelf), ("project", said.project), ("status", said.status)]
    pairs += [("tag", tag) for tag in said.tags]
    pairs += [("why", "1")] if said.why else []
    return urlencode([(name, value) for name, value in [*pairs, ("offset", said.offset)] if value])


def day(time: str | None) -> str:
    """A time of the store, to the minute."""
    return (time or "")[:16].replace("T", " ")


def amount(size: int) -> str:
    """A number of bytes for people."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1_000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1_000
    return ""
