"""The page as a person meets it: typed, clicked, seen, on a small screen, without a mouse, with stored text that means harm."""

from __future__ import annotations

import re
import socket
import time

import pytest

PAGES = ("", "?q=deploy", "map", "memory", "memory/project?id=git:example.org/acme/app", "review", "health")
SIZES = {"wide": (1200, 800), "narrow": (360, 740)}


def until(holds):
    """Wait for what is about to become so."""
    for _ in range(500):
        if holds():
            return
        time.sleep(0.02)
    assert holds()


def document(tab, page, title):
    """Open a document by its title, as the picture knows it."""
    known = {name: id for id, _, name, _ in tab.request.get(f"{page.address}map/picture").json()["documents"]}
    tab.goto(f"{page.address}document/{known[title]}")


def test_results_come_while_one_types_and_keys_lead_through_them(tab, page):
    tab.goto(page.address)
    tab.keyboard.type("rollb")
    tab.keyboard.type("ack")
    tab.wait_for_selector("mark")
    assert "rollback" in tab.inner_text("#results")
    assert "q=rollback" in tab.url
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.className") == "hit"
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.id") == "q"
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/document/**")
    assert "rollback" in tab.inner_text(".text")
    tab.keyboard.press("/")
    tab.wait_for_selector("#q")


def test_an_answer_to_an_earlier_question_is_never_shown(tab, page):
    """The first answer is held back until the second has been painted."""
    tab.goto(page.address)
    held = []
    tab.route("**/results?q=keys*", lambda route: held.append(route))
    tab.fill("#q", "keys")
    while not held:
        tab.wait_for_timeout(10)
    tab.fill("#q", "alerts")
    tab.get_by_role("link", name="About alerts").first.wait_for()
    for route in held:
        try:
            route.continue_()
        except Exception:
            continue
    tab.wait_for_timeout(200)
    assert "About alerts" in tab.inner_text("#results")
    assert "About keys" not in tab.inner_text("#results .hits > li:first-child")
    tab.trouble[:] = [each for each in tab.trouble if "ERR_FAILED" not in each]


def test_chips_narrow_and_numbers_are_shown_on_demand(tab, page):
    tab.goto(f"{page.address}?q=how")
    assert tab.locator(".hits > li").count() > 3
    tab.get_by_role("radio", name="standard").check()
    until(lambda: tab.locator(".hits > li").count() == 3)
    tab.get_by_text("More filters").click()
    tab.get_by_label("why this rank").check()
    tab.wait_for_selector(".why")
    assert "shelf=standard" in tab.url
    tab.reload()
    assert tab.locator(".hits > li").count() == 3


def test_the_page_works_without_scripts(browser, page):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(page.address)
    tab.fill("#q", "rollback")
    tab.get_by_role("button", name="Search").click()
    assert tab.locator(".hits > li").count() > 0
    tab.locator(".hit").first.click()
    assert "rollback" in tab.inner_text(".text")
    context.close()


def test_stored_text_that_means_harm_does_none(tab, page):
    document(tab, page, "Hostile")
    assert "Hostile" in tab.title()
    assert tab.locator(".text script, .text img, .text iframe, .text form, .text svg, .text style").count() == 0
    assert tab.locator("body").is_visible()
    for link in tab.locator(".text a").all():
        assert not (link.get_attribute("href") or "").startswith("javascript")
    assert tab.inner_text(".text").count("\u05e9\u05dc\u05d5\u05dd") == 1
    tab.goto(f"{page.address}?q=outage")
    tab.locator(".hit").first.click()
    assert "Deploys" in tab.title() or "Keys" in tab.title() or "Alerts" in tab.title()
    assert tab.locator(".text script").count() == 0


def test_the_policy_stops_what_slips_in(tab, page):
    """As if the sanitiser had failed: a script, a handler and a picture are put into the page by hand."""
    elsewhere = socket.create_server(("127.0.0.1", 0))
    elsewhere.setblocking(False)
    tab.goto(page.address)
    tab.evaluate(
        """(port) => {
          const place = document.querySelector('main');
          const harm = `<img src="http://127.0.0.1:${port}/x.png" onerror="window.ran = 1"><p onclick="window.ran = 2">x</p>`;
          place.insertAdjacentHTML('beforeend', harm);
          const script = document.createElement('script');
          script.textContent = 'window.ran = 3';
          place.append(script);
          place.lastElementChild.previousElementSibling.click();
        }""",
        elsewhere.getsockname()[1],
    )
    tab.wait_for_timeout(300)
    assert tab.evaluate("window.ran") is None
    with pytest.raises(BlockingIOError):
        elsewhere.accept()
    elsewhere.close()
    assert any("Content Security Policy" in each for each in tab.trouble)
    tab.trouble.clear()


def test_a_document_of_ten_thousand_headings_and_one_of_five_megabytes_open(tab, page):
    document(tab, page, "Heading 0")
    assert tab.locator(".text h1").count() > 1_000
    assert tab.locator(".outline li").count() <= 150
    tab.get_by_text("All 10000 headings").click()
    assert tab.locator(".outline li").count() == 2_000
    tab.get_by_text("Heading 1999", exact=True).click()
    assert tab.locator("#L7997").count() == 1
    document(tab, page, "Huge")
    assert tab.locator(".text p").count() > 100
    tab.get_by_text("Read on from line").click()
    assert "from=" in tab.url
    assert tab.locator(".text p").count() > 100


def test_links_are_shown_with_reasons_and_judged(tab, page):
    document(tab, page, "About deploy")
    assert "depends_on · 0.90 · heuristic · runbooks" in tab.inner_text("#links")
    assert "About deploy names About rollback" in tab.inner_text("#links")
    tab.get_by_label("The link to About rollback is right: pin it").click()
    assert "pinned" in tab.inner_text("#links")
    tab.get_by_label("The link to About errors is wrong: reject it").click()
    assert "About errors" not in tab.inner_text("#links")
    document(tab, page, "About rollback")
    tab.get_by_text("What leads here").click()
    tab.wait_for_selector(".incoming .links")
    assert "About deploy" in tab.inner_text(".incoming")


def test_the_map_shows_filters_opens_and_stays(tab, page):
    tab.goto(f"{page.address}map")
    tab.wait_for_selector("#map[data-ready]")
    assert tab.get_attribute("#map", "data-dots") == "10"
    assert tab.get_attribute("#map", "data-lines") == "3"
    first = tab.evaluate("document.getElementById('map').positions()")
    assert len({tuple(each) for each in first}) == 10, "no two lie on each other"
    tab.get_by_label("depends on").uncheck()
    assert tab.get_attribute("#map", "data-lines") == "2"
    tab.locator("#confidence").fill("50")
    assert tab.get_attribute("#map", "data-lines") == "1"
    tab.locator("#shelves label", has_text="standard").locator("input").uncheck()
    assert (tab.get_attribute("#map", "data-dots"), tab.get_attribute("#map", "data-lines")) == ("7", "0")
    tab.locator("#filters label", has_text="heuristic").locator("input").uncheck()
    tab.reload()
    tab.wait_for_selector("#map[data-ready]")
    assert tab.evaluate("document.getElementById('map').positions()") == first
    titles = [title for _, _, title, _ in tab.request.get(f"{page.address}map/picture").json()["documents"]]
    index = titles.index("About deploy")
    place = tab.evaluate(f"document.getElementById('map').place({index})")
    box = tab.locator("#canvas").bounding_box()
    tab.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    tab.wait_for_selector("#tip:not([hidden])")
    assert "About deploy" in tab.inner_text("#tip")
    tab.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
    tab.wait_for_url("**/document/**")
    assert "deploy" in tab.title()


def test_the_map_moves_by_keys_and_is_a_list_too(tab, page):
    tab.goto(f"{page.address}map")
    tab.wait_for_selector("#map[data-ready]")
    before = tab.evaluate("document.getElementById('map').place(0)")
    tab.focus("#canvas")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("+")
    until(lambda: tab.evaluate("document.getElementById('map').place(0)") != before)
    tab.get_by_text("The same as a list").click()
    assert tab.locator("#list li").count() == 10
    tab.fill("#find", "about keys")
    tab.wait_for_selector("#tip:not([hidden])")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/document/**")


def test_an_entry_is_invalidated_with_a_reason(tab, page):
    tab.goto(f"{page.address}memory")
    tab.get_by_text("git:example.org/acme/app").first.click()
    tab.get_by_text("Keys rotate weekly").first.click()
    tab.get_by_role("button", name="Invalidate").click()
    assert "/memory/entry/" in tab.url, "without a reason the browser itself holds the form back"
    tab.fill("[name=reason]", "they rotate daily now")
    tab.get_by_role("button", name="Invalidate").click()
    assert "they rotate daily now" in tab.inner_text(".life")
    tab.fill("[name=reason]", "no, weekly")
    tab.get_by_role("button", name="Bring back").click()
    assert "restored" in tab.inner_text(".life")


def test_what_waits_is_accepted_on_the_page(tab, page):
    tab.goto(f"{page.address}review")
    waiting = tab.locator(".proposal").count()
    assert waiting > 0
    tab.get_by_label("accept", exact=True).first.check()
    tab.get_by_role("button", name="Decide so").click()
    assert tab.locator(".proposal").count() == waiting - 1


def test_another_start_has_another_address(browser, page):
    context = browser.new_context()
    tab = context.new_page()
    without = re.sub(r"/[^/]+/$", "/", page.address)
    answer = tab.goto(without)
    assert answer.status == 403
    assert "scaffale ui" in tab.inner_text("body")
    context.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_sound_for_keyboards_screen_readers_and_small_screens(browser, page, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra `browser` has axe")
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )  # axe is a script of others: the policy of the page would not let it in
    tab = context.new_page()
    documents = tab.request.get(f"{page.address}map/picture").json()["documents"]
    entry = tab.request.get(f"{page.address}results?q=weekly").text()
    more = [f"document/{id}" for id, _, title, _ in documents if title in ("About deploy", "Hostile")]
    more.append(re.search(r"memory/entry/[\w-]+", entry)[0])
    problems = []
    for path in (*PAGES, *more, "nothing"):
        tab.goto(page.address + path)
        if path == "map":
            tab.wait_for_selector("#map[data-ready]")
        found = axe.Axe().run(tab).response["violations"]
        problems += [
            f"{path}: {each['id']} {each['impact']}: {each['nodes'][0]['html'][:120]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        overflow = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            problems.append(f"{path}: {overflow} px too wide")
    context.close()
    assert problems == []


def test_what_a_page_weighs(browser, page):
    """All that a first visit fetches, as the browser counts it; the data of the picture is no part of the page."""
    for path in PAGES:
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(page.address + path)
        tab.wait_for_load_state("networkidle")
        weights = tab.evaluate(
            "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
            ".filter((each) => !each.name.endsWith('/picture')).map((each) => each.decodedBodySize)"
        )
        assert sum(weights) <= 600_000, (path, weights)
        context.close()


def test_a_server_that_is_gone_is_said(tab, page):
    tab.goto(page.address)
    assert page.stop() == 0
    assert page.log.read_text() == ""
    tab.fill("#q", "deploy")
    tab.wait_for_selector("[role=alert]")
    assert "still running" in tab.inner_text("[role=alert]")
    tab.trouble.clear()
