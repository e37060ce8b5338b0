// What pages do beyond their HTML: results while one types, keys, links that lead here on demand. Everything works without it.
"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const field = document.getElementById("q");

  // --- results while somebody types -------------------------------------------------------------------------------------

  const form = document.getElementById("search");
  if (form) {
    const results = document.getElementById("results");
    const said = document.getElementById("said");
    let asked = address();
    let asking = null;

    function address() {
      const wanted = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (value && !(name === "where" && value === "all") && !(name === "status" && value === "active")) wanted.append(name, value);
      return wanted.toString();
    }

    async function ask() {
      const wanted = address();
      if (wanted === asked) return;
      asked = wanted;
      asking?.abort(); // an answer to an earlier question is not waited for, and never shown
      const mine = (asking = new AbortController());
      try {
        const answer = await fetch(`${form.dataset.results}?${wanted}`, { signal: mine.signal });
        const html = await answer.text();
        if (asking !== mine) return;
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        results.innerHTML = html; // a template of ours, in which everything stored is escaped
        const found = results.querySelectorAll(".hits > li").length;
        said.textContent = field.value.trim() ? `${found} results` : "";
        history.replaceState(null, "", wanted ? `?${wanted}` : location.pathname);
        performance.mark("results", { detail: wanted });
      } catch (error) {
        if (error.name === "AbortError") return;
        const problem = document.createElement("p");
        problem.className = "problem";
        problem.setAttribute("role", "alert");
        problem.textContent = `No answer from scaffale ui: is it still running? (${error.message})`;
        results.replaceChildren(problem);
        asked = null;
      }
    }

    form.addEventListener("input", ask);
    form.addEventListener("submit", (event) => { event.preventDefault(); ask(); results.querySelector(".hit")?.focus(); });
    addEventListener("pageshow", () => { asked = new URLSearchParams(location.search).toString() || asked; });
  }

  // --- keys ---------------------------------------------------------------------------------------------------------------

  const typing = (target) => target.closest?.("input, select, textarea, [role=application]");

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "/" && !typing(event.target)) {
      event.preventDefault();
      if (field) { field.focus(); field.select(); } else location.href = document.querySelector("header .name").href;
      return;
    }
    if (!field) return;
    const hits = [...document.querySelectorAll(".hit")];
    const at = hits.indexOf(document.activeElement);
    if (event.key === "ArrowDown" && (event.target === field || at >= 0)) {
      event.preventDefault();
      hits[Math.min(at + 1, hits.length - 1)]?.focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (hits[at - 1] ?? field).focus();
    } else if (event.key === "Escape" && at >= 0) {
      field.focus();
    }
  });

  // --- what leads here, on demand -----------------------------------------------------------------------------------------

  for (const details of document.querySelectorAll("details[data-from]")) {
    details.addEventListener("toggle", async () => {
      const answer = await fetch(details.dataset.from);
      if (answer.ok) details.lastElementChild.innerHTML = await answer.text(); // a template of ours, too
    }, { once: true });
  }

  // --- the line that a search found -----------------------------------------------------------------------------------------

  const at = Number(new URLSearchParams(location.search).get("at"));
  if (at) {
    let nearest = null;
    for (const heading of document.querySelectorAll(".text [id^=L]")) if (Number(heading.id.slice(1)) <= at) nearest = heading;
    if (nearest) { nearest.classList.add("here"); nearest.scrollIntoView(); }
  }
})();
