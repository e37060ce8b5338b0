"""`python -m benchmarks credentials [--data DIR]`: how many secrets are found, and how many honest documents are flagged.

Secrets are drawn by the formats that their issuers give, kind by kind, independently of the rules, and each stands in
each of the wraps: prose, code, data, and disguises (zero width, base64, broken lines). The author of the rules knew the
kinds, so the recall is that of known kinds. The documents are technical ones of the sets of `--data`, where they are: C++
reference, PowerShell help, short manuals of commands, the library of Python; drawn by a fixed seed.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import random
import string
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import Figure
from scaffale import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "shared", "eval"))
SETS = ("links-cpp-en", "links-powershell-en", "links-pydoc-en", "adhoc-tldr-en")
DOCUMENTS = 1_000
SEED = 20260501

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEADER = '{"alg":"HS256","typ":"JWT"}'
CLAIMS = '{"sub":"%s"}'


class Maker:
    """Draws secrets of a kind by the format that its issuer gives them, independently of the rules."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def of(self, alphabet, length):
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def uuid(self):
        return "-".join(self.of(HEX, n) for n in (8, 4, 4, 4, 12))

    def base64url(self, text):
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


KINDS = {
    "aws id": lambda m: "AKIA" + m.of(string.ascii_uppercase + "234567", 16),
    "aws secret": lambda m: "aws_secret_access_key = " + m.of(BASE64, 40),
    "github classic": lambda m: "ghp_" + m.of(ALNUM, 36),
    "github server": lambda m: "ghs_" + m.of(ALNUM, 36),
    "github fine-grained": lambda m: f"github_pat_{m.of(ALNUM, 22)}_{m.of(ALNUM, 59)}",
    "gitlab": lambda m: "glpat-" + m.of(URL64, 20),
    "anthropic": lambda m: f"sk-ant-api03-{m.of(URL64, 93)}AA",
    "openai old": lambda m: f"sk-{m.of(ALNUM, 20)}T3BlbkFJ{m.of(ALNUM, 20)}",
    "openai project": lambda m: f"sk-proj-{m.of(URL64, 74)}T3BlbkFJ{m.of(URL64, 74)}",
    "google api": lambda m: "AIza" + m.of(URL64, 35),
    "google oauth": lambda m: "GOCSPX-" + m.of(URL64, 28),
    "hugging face": lambda m: "hf_" + m.of(string.ascii_letters, 34),
    "npm": lambda m: "npm_" + m.of(ALNUM, 36),
    "pypi": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.of(URL64, 140),
    "slack bot": lambda m: f"xoxb-{m.of(string.digits, 12)}-{m.of(string.digits, 13)}-{m.of(ALNUM, 24)}",
    "slack user": lambda m: f"xoxp-{m.of(string.digits, 12)}-{m.of(string.digits, 12)}-{m.of(HEX, 32)}",
    "slack app": lambda m: f"xapp-1-A{m.of(UPPER, 10)}-{m.of(string.digits, 13)}-{m.of(HEX, 64)}",
    "slack webhook": lambda m: f"https://hooks.slack.com/services/T{m.of(UPPER, 8)}/B{m.of(UPPER, 10)}/{m.of(ALNUM, 24)}",
    "stripe": lambda m: "sk_live_" + m.of(ALNUM, 24),
    "stripe restricted": lambda m: "rk_live_" + m.of(ALNUM, 99),
    "twilio": lambda m: "SK" + m.of(HEX, 32),
    "sendgrid": lambda m: f"SG.{m.of(URL64, 22)}.{m.of(URL64, 43)}",
    "digitalocean": lambda m: "dop_v1_" + m.of(HEX, 64),
    "vault": lambda m: "hvs." + m.of(URL64, 90),
    "azure storage": lambda m: f"DefaultEndpointsProtocol=https;AccountName=a1;AccountKey={m.of(BASE64, 86)}==",
    "azure sas": lambda m: f"https://a.blob.core.windows.net/c?sv=2024-11-04&sr=c&sig={m.of(BASE64, 43)}%3D",
    "azure client secret": lambda m: f"{m.of(ALNUM, 3)}8Q~{m.of(URL64 + '.~', 34)}",
    "jwt": lambda m: f"{m.base64url(HEADER)}.{m.base64url(CLAIMS % m.of(string.digits, 10))}.{m.of(URL64, 43)}",
    "url password": lambda m: f"postgres://admin:{m.of(ALNUM, 14)}@db.internal:5432/prod",
    "telegram": lambda m: f"{m.of('123456789', 10)}:AA{m.of(URL64, 33)}",
    "discord bot": lambda m: f"M{m.of(ALNUM, 25)}.{m.of(URL64, 6)}.{m.of(URL64, 38)}",
    "discord webhook": lambda m: f"https://discord.com/api/webhooks/{m.of('123456789', 18)}/{m.of(URL64, 68)}",
    "shopify": lambda m: "shpat_" + m.of(HEX, 32),
    "mailgun": lambda m: "key-" + m.of(HEX, 32),
    "databricks": lambda m: "dapi" + m.of(HEX, 32),
    "linear": lambda m: "lin_api_" + m.of(ALNUM, 40),
    "notion": lambda m: "ntn_" + m.of(string.digits, 11) + m.of(ALNUM, 35),
    "notion old": lambda m: "secret_" + m.of(ALNUM, 43),
    "sentry": lambda m: "sntryu_" + m.of(HEX, 64),
    "grafana": lambda m: f"glsa_{m.of(ALNUM, 32)}_{m.of(HEX, 8)}",
    "doppler": lambda m: "dp.pt." + m.of(ALNUM, 43),
    "docker": lambda m: "dckr_pat_" + m.of(URL64, 27),
    "terraform": lambda m: f"{m.of(ALNUM, 14)}.atlasv1.{m.of(ALNUM, 67)}",
    "supabase": lambda m: "sbp_" + m.of(HEX, 40),
    "fly": lambda m: "fo1_" + m.of(URL64, 43),
    "postman": lambda m: f"PMAK-{m.of(HEX, 24)}-{m.of(HEX, 34)}",
    "age": lambda m: "AGE-SECRET-KEY-1" + m.of(UPPER, 58),
    "cloudflare": lambda m: "CLOUDFLARE_API_TOKEN=" + m.of(URL64, 40),
    "heroku": lambda m: "HRKU-" + m.uuid(),
    "datadog": lambda m: "DD_API_KEY=" + m.of(HEX, 32),
    "new relic": lambda m: "NRAK-" + m.of(UPPER, 27),
    "square": lambda m: "sq0atp-" + m.of(URL64, 22),
    "okta": lambda m: "OKTA_API_TOKEN=00" + m.of(URL64, 40),
    "atlassian": lambda m: f"ATATT3xFfGF0{m.of(URL64, 170)}={m.of(UPPER, 8)}",
    "airtable": lambda m: f"pat{m.of(ALNUM, 14)}.{m.of(HEX, 64)}",
    "figma": lambda m: "figd_" + m.of(URL64, 40),
    "mailchimp": lambda m: f"{m.of(HEX, 32)}-us{m.random.randint(1, 21)}",
    "planetscale": lambda m: "pscale_tkn_" + m.of(URL64, 43),
    "pulumi": lambda m: "pul-" + m.of(HEX, 40),
    "rubygems": lambda m: "rubygems_" + m.of(HEX, 48),
}


def split_in_two(text, between):
    middle = len(text) // 2 + 1
    return text[:middle] + between + text[middle:]


def base64_of(text):
    return base64.b64encode(text.encode()).decode()


WRAPS = {
    "prose": lambda s: f"After the incident we saw that {s} had been used, so it was rotated.",
    "italian": lambda s: f"Perché funzioni, l'ambiente vuole «{s}», com'è già scritto.",
    "backticks": lambda s: f"Use `{s}`.",
    "fence": lambda s: f"```sh\nexport THING='{s}'\n./run\n```\n",
    "json": lambda s: f'{{"a": 1, "value": "{s}", "b": [true]}}',
    "yaml": lambda s: f"service:\n  value: {s}\n  port: 80\n",
    "assignment": lambda s: f"THING={s}",
    "table": lambda s: f"| name | value |\n| --- | --- |\n| x | {s} |\n",
    "comment": lambda s: f"# TODO remove ({s})",
    "zero width": lambda s: "see " + s[:6] + "\u200b" + split_in_two(s[6:], "\u2060") + " here",
    "base64": lambda s: f"data: {base64_of(s)}\nother: 1",
    "escaped": lambda s: f'{{"text": "one\\n{s}\\ntwo"}}',
    "percent": lambda s: f"https://host/callback?state=1&value%3D{s}",
    "wrapped": lambda s: f"the value\n{split_in_two(s, chr(10))}\nwas rotated",
}


def draw(kind: str) -> str:
    """The secret of a kind that every run draws."""
    return KINDS[kind](Maker(kind))


class Judged(NamedTuple):
    """What the rules say of the cases and of the documents."""

    cases: int
    missed: list[tuple[str, str]]
    documents: int
    certain: list[str]
    probable: list[str]
    milliseconds_per_kb: float


def judged(data: str) -> Judged:
    """Look at every case and every document."""
    missed = [(kind, wrap) for kind in KINDS for wrap in WRAPS if not secrets.find(WRAPS[wrap](draw(kind)), 1)]
    texts = documents(data)
    begin = time.thread_time()
    found = [{each.tier for each in secrets.find(text)} for _, text in texts]
    spent = time.thread_time() - begin
    size = sum(len(text.encode()) for _, text in texts)
    names = [name for name, _ in texts]
    certain = [name for name, tiers in zip(names, found, strict=True) if 1 in tiers]
    probable = [name for name, tiers in zip(names, found, strict=True) if tiers - {1}]
    return Judged(len(KINDS) * len(WRAPS), missed, len(texts), certain, probable, spent * 1e6 / size if size else 0.0)


def documents(data: str) -> list[tuple[str, str]]:
    """Name and text of the documents, or nothing where the sets are not."""
    found: list[tuple[str, str]] = []
    for name in SETS:
        path = os.path.join(data, name, "docs.jsonl.gz")
        if os.path.exists(path):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            texts = [(f"{name}/{row['id']}", f"{row['title']}\n\n{row.get('body') or row['text']}") for row in rows]
            random.Random(SEED).shuffle(texts)
            found += texts[: DOCUMENTS // len(SETS)]
    return found


def figures(folder: str, size: int, data: str = DATA) -> Iterator[Figure]:
    """Recall of tier 1, and the share of documents that each tier flags."""
    result = judged(data)
    yield Figure(
        "credentials: certain ones found", 1 - len(result.missed) / result.cases, 0.98, at_most=False,
        arms=f"{result.cases} cases, {len(KINDS)} kinds in {len(WRAPS)} wraps", slack=0.002,
    )  # fmt: skip
    if not result.documents:
        return
    arms = f"{result.documents} documents, {result.milliseconds_per_kb:.3f} ms a KB"
    yield Figure("credentials: documents flagged as certain", len(result.certain) / result.documents, 0.01, arms=arms)
    yield Figure("credentials: documents flagged as probable", len(result.probable) / result.documents, 0.05, arms=arms)


def main(argv: Sequence[str]) -> int:
    """Print the figures, and each miss and each flagged document by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks credentials", description=__doc__)
    parser.add_argument("--data", default=DATA, help="the folder of the evaluation sets")
    arguments = parser.parse_args(argv)
    for figure in figures("", 0, arguments.data):
        print(f"{figure.name}: {figure.value:.4f}, goal {figure.goal:g}; {figure.arms}")
    result = judged(arguments.data)
    for kind, wrap in result.missed:
        print(f"missed: {kind} in {wrap}")
    for what, names in (("certain", result.certain), ("probable", result.probable)):
        for name in names:
            print(f"{what}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
