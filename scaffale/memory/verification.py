"""The verb that looks whether what an entry rests on is still there. A closed list of checks, all of them only reading:

`file`: the file of `source_path` exists, and still holds the entry's text where it did. `section`: a document that the
entry cites still says the same. `commit`: the commit of `source_ref` is reachable. What was seen is remembered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scaffale import files
from scaffale.errors import ScaffaleError
from scaffale.indexer import clock
from scaffale.memory.life import Life

if TYPE_CHECKING:
    from scaffale.answers.life import Verified
    from scaffale.indexer.checks import Check
    from scaffale.indexer.projects import Resolved
    from scaffale.model import Entry

_COMMIT = r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b"
_WORST = ("gone", "changed", "unknown", "same")


class Verification(Life):
    """Verify."""

    def verify_entry(
        self, *, entry_id: str, actor: str, project_path: str | None = None, project_id: str | None = None
    ) -> Verified:
        """Look at the file, the documents and the commit that an entry names, and remember what was seen.

        `outcome` is the worst that was: `gone`, `changed`, `unknown`, `same`; `none` for an entry that names nothing.
        """
        from scaffale.answers.life import Verified
        from scaffale.indexer import checks

        with self._audited("memory_verify_entry", actor, project_id, {}, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            database, _ = self._of_entry(entry_id, resolved)
            _, row, citing = self._reached(
                entry_id, "project", project_path, project_id, lambda connection, each: self._citing(connection, [each])
            )
            at = clock.now()
            found = [*_of_file(row.entry, resolved, at), *_of_commit(row.entry, resolved, at)]
            cited = self._documents.look(citing) if citing else {}
            for link in citing:
                place = f"{link.target_uri} § {' > '.join(link.section)}" if link.section else str(link.target_uri)
                found.append(checks.Check("section", place, cited[link.id].evidence, at))
            outcome = next((each for each in _WORST if each in {check.outcome for check in found}), "none")
            with database.write() as connection:
                checks.put(connection, row.entry.id, found)
                trail.done(connection, entry_id=row.entry.id, result={"outcome": outcome, "checks": len(found)})
        return Verified(
            row.entry.project_id, row.entry.id, outcome, at, tuple(found), (*resolved.warnings, *trail.warnings)
        )


def _of_file(entry: Entry, resolved: Resolved, at: str) -> list[Check]:
    from scaffale.indexer import paths
    from scaffale.indexer.checks import Check

    if entry.source_path is None:
        return []
    stores = (resolved.settings.memory_db_path, resolved.settings.docs_db_path)
    try:
        path = paths.resolve_inside(entry.source_path, resolved.roots, kind="file_path", base=resolved.folder, stores=stores)
        text = files.read_regular(path, resolved.settings.docs_max_file_bytes).decode("utf-8", "replace")
    except ScaffaleError as error:
        outcome = "gone" if "does not exist" in error.detail else "unknown"
        return [Check("file", entry.source_path, outcome, at)]
    except OSError:
        return [Check("file", entry.source_path, "unknown", at)]
    # Only notes that were mined hold the words of their file; of others it is enough that the file is there.
    mined = bool(entry.source_ref and re.fullmatch(r"lines \d+-\d+", entry.source_ref))
    same = not mined or " ".join(entry.content.split()) in " ".join(text.split())
    return [Check("file", entry.source_path, "same" if same else "changed", at)]


def _of_commit(entry: Entry, resolved: Resolved, at: str) -> list[Check]:
    from scaffale.indexer.checks import Check

    found = re.search(_COMMIT, entry.source_ref or "")
    if found is None:
        return []
    if resolved.folder is None:
        return [Check("commit", found[0], "unknown", at)]
    from scaffale.indexer import git, repository

    around = repository.around(resolved.folder)
    if around is None:
        return [Check("commit", found[0], "unknown", at)]
    return [Check("commit", found[0], "same" if git.has_commit(around, found[0]) else "gone", at)]
