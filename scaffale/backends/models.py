"""Models: those that are known by name, where one lies, what it is made of. Nothing is loaded or downloaded here but by
`download`, which a person asks for by name.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1024 * 1024


class Known(NamedTuple):
    """A model of the hub: how large, under which licence, for which languages (none: many), and its prompts."""

    megabytes: int
    licence: str
    embedder: str
    max_tokens: int
    languages: tuple[str, ...] = ()
    query_prompt: str = ""
    document_prompt: str = ""


KNOWN = {
    "ibm-granite/granite-embedding-97m-multilingual-r2": Known(390, "Apache-2.0", "sentence-transformers", 512),
    "ibm-granite/granite-embedding-311m-multilingual-r2": Known(1200, "Apache-2.0", "sentence-transformers", 512),
    "intfloat/multilingual-e5-small": Known(471, "MIT", "sentence-transformers", 512, (), "query: ", "passage: "),
    "minishlab/potion-multilingual-128M": Known(512, "MIT", "static", 0),
    "minishlab/potion-retrieval-32M": Known(129, "MIT", "static", 0, ("en",)),
    "minishlab/potion-base-8M": Known(30, "MIT", "static", 0, ("en",)),
    "sentence-transformers/all-MiniLM-L6-v2": Known(91, "Apache-2.0", "sentence-transformers", 256, ("en",)),
    "sentence-transformers/static-retrieval-mrl-en-v1": Known(125, "Apache-2.0", "sentence-transformers", 0, ("en",)),
    "BAAI/bge-m3": Known(2300, "MIT", "sentence-transformers", 512),
}


def located(model: str, revision: str | None = None) -> str:
    """The folder of a model: the model itself when it is one, else the hub's cache. Raises `EmbedderUnavailable`, which
    says how to get it; never waits for a network."""
    if os.path.isdir(model):
        return os.path.realpath(model)
    if model.startswith((".", "/", "~")) or (os.sep != "/" and os.sep in model):
        raise EmbedderUnavailable(f"there is no folder {model}")
    try:
        from huggingface_hub import snapshot_download

        return str(snapshot_download(model, revision=revision, local_files_only=True))
    except ImportError as error:
        raise EmbedderUnavailable(
            f"{model} is no folder, and without huggingface_hub no cache of models can be looked into",
            "pip install 'scaffale[onnx]' or 'scaffale[st]' brings it",
        ) from error
    except Exception as error:  # whatever the library raises for what is not there; none is worth telling apart
        raise EmbedderUnavailable(f"{model} is not on this machine", offer(model)) from error


def offer(model: str) -> str:
    """What getting the model means."""
    known = KNOWN.get(model)
    size = f"{known.megabytes} MB, licence {known.licence}" if known else "size and licence: see its card"
    return f"`scaffale vectors enable --model {model} --download` downloads it ({size}) from huggingface.co"


def download(model: str, revision: str | None = None) -> str:
    """Fetch a model of the hub into its cache, and return the folder. The only thing that goes online."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise EmbedderUnavailable(
            "downloading needs huggingface_hub", "pip install 'scaffale[onnx]' or 'scaffale[st]' brings it"
        ) from error
    try:
        return str(snapshot_download(model, revision=revision))
    except Exception as error:
        raise EmbedderUnavailable(f"{model} could not be downloaded ({type(error).__name__}: {_first(error)})") from error


def digest(folder: str) -> str:
    """Sixteen hex digits that change with any file of the model."""
    whole = hashlib.blake2b(digest_size=8)
    for path in sorted(_files(folder)):
        whole.update(os.path.relpath(path, folder).replace(os.sep, "/").encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                whole.update(chunk)
    return whole.hexdigest()


def verify(folder: str, revision: str, model: str) -> None:
    """Raise `EmbedderUnavailable` when the model is not the one that made the vectors."""
    if not os.path.isdir(folder):
        raise EmbedderUnavailable(f"{model} is not at {folder} any more", f"`scaffale vectors enable --model {model}` looks anew")
    if digest(folder) != revision:
        raise EmbedderUnavailable(
            f"{model} at {folder} has changed since the vectors were made",
            f"`scaffale vectors enable --model {model}` makes them anew",
        )


def kind(folder: str) -> str:
    """Which embedder reads a folder like this."""
    names = {os.path.relpath(path, folder).replace(os.sep, "/") for path in _files(folder)}
    if _config(folder, "config.json").get("model_type") == "model2vec":
        return "static"
    if any(name.endswith(".onnx") for name in names) and "tokenizer.json" in names:
        return "onnx"
    return "sentence-transformers"


def max_tokens(folder: str) -> int | None:
    """What the model says that it reads; `None` when it says nothing."""
    said = _config(folder, "sentence_bert_config.json").get("max_seq_length")
    return said if isinstance(said, int) and 0 < said < 1_000_000 else None


def pooling(folder: str) -> str:
    """`cls` or `mean`, as the model was trained."""
    return "cls" if _config(folder, "1_Pooling/config.json").get("pooling_mode_cls_token") is True else "mean"


def prompts(folder: str) -> tuple[str, str]:
    """The prompts for questions and for documents, as the model's own configuration has them."""
    said = _config(folder, "config_sentence_transformers.json").get("prompts")
    if not isinstance(said, dict):
        return "", ""
    return str(said.get("query") or ""), str(said.get("document") or said.get("passage") or "")


def _config(folder: str, name: str) -> dict[str, object]:
    try:
        with open(os.path.join(folder, *name.split("/")), encoding="utf-8") as file:
            said = json.load(file)
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _files(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each != "__pycache__"]
        yield from (os.path.join(where, name) for name in names if not name.startswith(".") and not name.endswith(".pyc"))


def _first(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
