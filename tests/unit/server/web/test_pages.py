"""The pages answer what the halls answer, and refuse what they must."""

from __future__ import annotations

import re

import pytest

from scaffale.server.web.app import STATUS
from scaffale.server.web.guard import HEADERS

PAGES = ("/", "/results?q=log", "/map", "/map/picture", "/memory", "/review", "/health")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_while_nothing_is_kept_yet(face, path, tmp_path):
    answer = face.get(path)
    assert answer.status_code == 200, answer.text
    assert not (tmp_path / "home" / ".mcp-servers").exists(), "looking creates nothing"


def test_a_search_shows_documents_and_memory_with_their_matches_marked(face, shelf, entry):
    text = face.get("/?q=expiry+write-ahead").text
    assert "<mark>expiry</mark>" in text
    assert "<mark>write-ahead</mark>" in text or "<mark>write</mark>-<mark>ahead</mark>" in text
    assert f'href="/t0ken/document/{shelf["Guide"]}?at=5#L5"' in text
    assert f'href="/t0ken/memory/entry/{entry}"' in text


def test_the_list_alone_is_what_the_page_fetches(face, shelf):
    text = face.get("/results?q=replayed").text
    assert "<html" not in text
    assert "<mark>replayed</mark>" in text


def test_filters_narrow(face, shelf, entry):
    assert "Guide" not in face.get("/results?q=replayed&where=memory").text
    assert "Expiry" not in face.get("/results?q=expiry&shelf=notes").text
    assert "Expiry" in face.get("/results?q=expiry&project=app&tag=jwt").text
    assert "Expiry" not in face.get("/results?q=expiry&project=other").text
    assert "Expiry" not in face.get("/results?q=expiry&status=archived").text


def test_a_shelf_that_is_gone_is_said_and_the_page_stands(face, shelf):
    answer = face.get("/?q=log&shelf=nothing")
    assert answer.status_code == 200
    assert 'class="problem"' in answer.text


def test_why_a_hit_ranks_where_it_does_is_told_on_demand(face, shelf):
    assert 'class="why"' not in face.get("/results?q=replayed").text
    assert 'class="why"' in face.get("/results?q=replayed&why=1").text


def test_a_document_is_shown_with_outline_and_links(face, shelf):
    guide, other = shelf["Guide"], shelf["Other"]
    face.halls.docs.manage_document_links(
        operation="add", origin="manual", source_document_id=guide, target_document_id=other, relation="depends_on",
        confidence=0.75, rationale="because <b>so</b>",
    )  # fmt: skip
    text = face.get(f"/document/{guide}").text
    assert '<h2 id="L5">Recovery</h2>' in text
    assert 'href="#L5"' in text
    assert "depends_on · 0.75 · manual" in text
    assert "because &lt;b&gt;so&lt;/b&gt;" in text
    assert "Guide" in face.get(f"/document/{other}/incoming").text


def test_a_relative_link_leads_to_the_document_it_means(face, shelf):
    guide, other = shelf["Guide"], shelf["Other"]
    assert f'href="/t0ken/document/{guide}/to?reference=other.md"' in face.get(f"/document/{guide}").text
    led = face.get(f"/document/{guide}/to?reference=other.md", follow_redirects=False)
    assert (led.status_code, led.headers["location"]) == (303, f"/t0ken/document/{other}")
    assert face.get(f"/document/{guide}/to?reference=nothing.md").status_code == 404


def test_a_person_says_of_a_link_that_it_is_right_or_wrong(face, shelf):
    guide, other = shelf["Guide"], shelf["Other"]
    made = face.halls.docs.manage_document_links(
        operation="add", origin="heuristic", source_document_id=guide, target_document_id=other
    ).links[0]
    said = {"document": str(guide)}
    assert face.post(f"/link/{made.link_id}", {"verdict": "pin", **said}).status_code == 303
    assert "pinned" in face.get(f"/document/{guide}").text
    assert face.post(f"/link/{made.link_id}", {"verdict": "reject", **said}).status_code == 303
    assert face.halls.docs.picture().links == ()
    assert face.post(f"/link/{made.link_id}", {"verdict": "remove", **said}).status_code == 400


def test_the_picture_has_every_shelf_document_and_link(face, shelf):
    guide, other = shelf["Guide"], shelf["Other"]
    face.halls.docs.manage_document_links(
        operation="add", origin="manual", source_document_id=guide, target_document_id=other, relation="mentions",
        confidence=0.5,
    )  # fmt: skip
    drawn = face.get("/map/picture").json()
    assert [(id, name) for id, name, _ in drawn["shelves"]] == [(1, "notes")]
    assert sorted(place for *_, place in drawn["documents"]) == ["guide.md", "other.md"]
    ((source, target, relation, confidence, origin),) = drawn["links"]
    assert [drawn["documents"][at][0] for at in (source, target)] == [guide, other]
    assert (drawn["relations"][relation], confidence, drawn["origins"][origin]) == ("mentions", 50, "manual")


def test_memory_is_shown_by_project_and_time(face, entry):
    assert "/memory/project?id=app" in face.get("/memory").text
    text = face.get("/memory/project?id=app").text
    assert "Expiry is inclusive" in text
    assert "jwt" in text
    assert "Nothing here" in face.get("/memory/project?id=app&status=archived").text
    assert face.get("/memory/project?id=app&status=nonsense").status_code == 400


def test_an_entry_is_invalidated_and_brought_back_with_a_reason(face, entry):
    text = face.get(f"/memory/entry/{entry}").text
    assert "<em>expiry</em>" in text
    updated = re.search(r'name="updated_at" value="([^"]+)"', text)[1]
    path = f"/memory/entry/{entry}"
    assert face.post(path, {"act": "invalidate", "reason": "  ", "updated_at": updated}).status_code == 400
    assert face.post(path, {"act": "invalidate", "reason": "fixed in 2.1", "updated_at": updated}).status_code == 303
    text = face.get(path).text
    assert "invalidated" in text
    assert "fixed in 2.1" in text
    stale = face.post(path, {"act": "restore", "reason": "it came back", "updated_at": updated})
    assert stale.status_code == 409, "it is not the entry that the person saw"
    now = face.halls.memory.read_entry(entry_id=entry, mode="cross_project").entry.updated_at
    assert face.post(path, {"act": "restore", "reason": "it came back", "updated_at": now}).status_code == 303
    events = face.halls.memory.entry_history(entry_id=entry, mode="cross_project").events
    assert [(event.operation, event.actor) for event in events[1:]] == [("invalidated", "ada"), ("restored", "ada")]


def test_archiving_asks_for_a_reason_too(face, entry):
    now = face.halls.memory.read_entry(entry_id=entry, mode="cross_project").entry.updated_at
    assert face.post(f"/memory/entry/{entry}", {"act": "archive", "reason": "done", "updated_at": now}).status_code == 303
    assert face.halls.memory.read_entry(entry_id=entry, mode="cross_project").entry.status == "archived"


def test_a_proposal_is_accepted_as_it_was_shown(face, entry, tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n- Use tabs in Makefiles <script>x</script>\n", encoding="utf-8")
    face.halls.memory.propose(
        source_path=str(tmp_path / "AGENTS.md"), actor="a", project_id="app", scope="build", anywhere=True
    )
    text = face.get("/review").text
    assert "tabs in Makefiles" in text
    assert "<script>x" not in text
    given = {name: re.search(rf'name="{name}" value="([^"]+)"', text)[1] for name in ("project", "id", "digest 0")}
    stale = face.post("/review/decide", {**given, "verdict 0": "accept", "digest 0": "000000"})
    assert stale.status_code == 200
    assert 'role="alert"' in stale.text
    assert "tabs in Makefiles" in stale.text
    assert 'role="alert"' in face.post("/review/decide", {**given, "verdict 0": "approve"}).text
    assert face.post("/review/decide", {**given, "verdict 0": "leave"}).status_code == 303
    assert "tabs in Makefiles" in face.get("/review").text
    assert face.post("/review/decide", {**given, "verdict 0": "accept"}).status_code == 303
    assert "Nothing waits" in face.get("/review").text
    assert face.halls.memory.search(query="Makefiles", project_id="app").total == 1


def test_a_concept_is_merged_into_the_one_beside_it(face):
    memory, said = face.halls.memory, {"actor": "a", "project_id": "app"}
    memory.open_session(session_id="s", **said)
    for number, subject in enumerate(("Ablation", "Ablations")):
        memory.record_decision(
            session_id="s", phase="F1", type="concept_clarified", subject=subject, detail=f"the flag is set <!-- {number} -->",
            **said,
        )
        text = face.get("/review").text
        assert "&lt;!-- " in text, "what Markdown would hide is seen"
        given = dict(re.findall(r'name="([^"]+)" value="([^"]+)"', text))
        verdict = "merge mem-0001" if number else "accept"
        assert face.post("/review/decide", {**given, "verdict 0": verdict}).status_code == 303
    assert memory.recall_concepts(query="flag", project_id="app").total == 1
    assert "Nothing waits" in face.get("/review").text


def test_what_waits_is_a_checklist_of_which_no_page_is_lost(face):
    memory, said = face.halls.memory, {"actor": "a", "project_id": "app"}
    memory.open_session(session_id="s", **said)
    for number in range(12):
        memory.record_decision(
            session_id="s", phase="F1", type="concept_clarified", subject=f"Concept{number}", detail=f"says word{number}", **said
        )
    first, second = face.get("/review").text, face.get("/review?project=app&offset=10").text
    assert first.count('<article class="proposal">') == 10
    assert second.count('<article class="proposal">') == 2
    assert "offset=10" in first
    given = dict(re.findall(r'name="(project|digest \d)" value="([^"]+)"', first))
    ids = re.findall(r'name="id" value="([^"]+)"', first)
    decided = {"verdict 0": "accept", "verdict 1": "decline", "verdict 2": "leave"}
    assert face.post("/review/decide", {**given, **decided, "id": ids}).status_code == 303
    assert memory.review(project_id="app").total == 10
    assert memory.recall_concepts(query="word0", project_id="app").total == 1
    assert memory.recall_concepts(query="word1", project_id="app").total == 0


def test_health_names_stores_indexes_and_sizes(face, shelf, entry):
    text = face.get("/health").text
    assert "memory.sqlite" in text
    assert "docs.sqlite" in text
    assert re.search(r"[\d.]+ kB, log", text)


# --- refusals ------------------------------------------------------------------------------------------------------------


def test_without_its_token_nothing_is_told(face, shelf):
    for path in ("/", "/?q=log", "/wrong/", "/static/page.css", "/t0ke/", "/t0kenx/", "/map/picture"):
        answer = face.client.get(path)
        assert answer.status_code == 403, path
        assert "Guide" not in answer.text


def test_a_change_without_the_second_token_is_refused(face, entry):
    path = f"/t0ken/memory/entry/{entry}"
    for data in ({}, {"pass": "wrong"}, {"pass": "t0ken"}):
        answer = face.client.post(path, data={"act": "invalidate", "reason": "x", **data})
        assert answer.status_code == 400
    assert face.halls.memory.read_entry(entry_id=entry, mode="cross_project").entry.status == "active"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7340", "127.0.0.1.evil.example", "", "[::2]:7340"])
def test_another_name_is_refused(face, host):
    assert face.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:7340", "127.0.0.1", "[::1]:7340", "LOCALHOST:1"])
def test_our_own_names_are_taken(face, host):
    assert face.get("/", headers={"Host": host}).status_code == 200


def test_a_page_of_another_site_is_refused(face, entry):
    for headers in (
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9999"},
    ):  # fmt: skip
        assert face.get("/", headers=headers).status_code == 403
        assert face.post(f"/memory/entry/{entry}", {"act": "archive", "reason": "x"}, headers=headers).status_code == 403
    crossed = face.post(f"/memory/entry/{entry}", {"act": "archive", "reason": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert crossed.status_code == 403
    assert face.get("/", headers={"Origin": "http://127.0.0.1:7340"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/nothing", "/document/99", "/static/page.js", "/map/picture"])
def test_every_answer_carries_the_policy(face, path):
    answer = face.get(path)
    for name, value in HEADERS:
        assert answer.headers[name.decode()] == value.decode()


def test_errors_are_pages_with_the_status_of_their_code(face):
    assert face.get("/document/99").status_code == STATUS["NOT_FOUND"] == 404
    assert face.get("/memory/entry/nothing").status_code == 404
    assert face.get("/nothing").status_code == 404
    assert face.get("/results?q=x&offset=-1").status_code == 400
    assert face.get("/document/99999999999999999999999").status_code == 404
    assert face.get("/", headers={}).status_code == 200


def test_a_defect_shows_nothing_of_itself(face, monkeypatch, caplog):
    def broken(**_):
        raise RuntimeError("inner secrets")

    monkeypatch.setattr(type(face.halls.memory), "list_projects", broken)
    answer = face.get("/memory")
    assert answer.status_code == 500
    assert "inner secrets" not in answer.text
    assert "INTERNAL" in answer.text
    assert "/memory" in caplog.text
