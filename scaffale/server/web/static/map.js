// The map: shelves as islands, folders as fields on them, documents as dots, links as lines.
//
// Where a dot lies follows from the names alone: islands are packed as circles, fields inside islands, dots inside fields, in
// the order of the store. So the map is the same at every visit, and a new document moves little. sigma draws dots and lines.
"use strict";
(async () => {
  const stage = document.getElementById("map");
  if (!stage) return;
  const form = document.getElementById("filters");
  const canvas = document.getElementById("canvas");
  const tip = document.getElementById("tip");
  const trouble = document.getElementById("trouble");
  const counts = document.getElementById("counts");
  const list = document.getElementById("list");
  const find = document.getElementById("find");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const picture = await load();
  if (!picture) return;
  const { shelves, documents, links, relations, origins } = picture;
  const degree = new Uint32Array(documents.length);
  for (const [source, target] of links) { degree[source]++; degree[target]++; }
  const islands = packed();
  performance.mark("map-packed");
  const graph = new graphology.MultiDirectedGraph();
  let hovered = null;
  let near = new Set();
  let wanted = chosen();
  let colours = palette();
  let renderer = null;

  async function load() {
    try {
      const answer = await fetch(stage.dataset.picture);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return await answer.json();
    } catch (error) {
      said(`The map could not be loaded: ${error.message}`);
      return null;
    }
  }

  function said(words) { trouble.textContent = words; trouble.hidden = false; list.open = true; }

  // --- where everything lies ----------------------------------------------------------------------------------------------

  function packed() {
    const roots = new Map(shelves.map(([id, name, parents]) => [id, { shelf: id, name, parents, children: [], folders: new Map() }]));
    documents.forEach(([, shelf, , place], index) => {
      let folder = roots.get(shelf);
      for (const part of place.split("/").slice(0, -1)) {
        let next = folder.folders.get(part);
        if (!next) { next = { name: part, children: [], folders: new Map() }; folder.folders.set(part, next); folder.children.push(next); }
        folder = next;
      }
      folder.children.push({ index });
    });
    const slim = (folder) => { // a folder that holds but one folder is that one
      folder.children = folder.children.map((child) => (child.children ? slim(child) : child));
      return folder.children.length === 1 && folder.children[0].children && !folder.shelf ? { ...folder.children[0], name: `${folder.name}/${folder.children[0].name}` } : folder;
    };
    const depth = (id, seen = new Set()) => (seen.has(id) ? 0 : 1 + Math.max(0, ...(roots.get(id)?.parents ?? []).map((parent) => depth(parent, seen.add(id)))));
    const order = [...roots.values()].filter((shelf) => shelf.children.length).sort((a, b) => depth(a.shelf) - depth(b.shelf) || a.shelf - b.shelf);
    const root = d3.hierarchy({ children: order.map(slim) });
    const room = Math.min(8, 90 / Math.sqrt(documents.length)); // for names, where there is room for names
    const spaces = [12 + 3 * room, 3 + room]; // between islands, between what lies on one
    return d3.pack().radius((node) => reach(node.data.index)).padding((node) => spaces[node.depth] ?? room)(root);
  }

  function reach(index) { return 4 + Math.min(degree[index], 24) / 6; } // of a dot: what is linked much is larger

  function build() {
    for (const leaf of islands.leaves()) {
      const { index } = leaf.data;
      if (index === undefined) continue;
      graph.addNode(index, { x: leaf.x, y: -leaf.y, size: 0.8 * leaf.r, label: documents[index][2] });
    }
    links.forEach(([source, target], index) => graph.addDirectedEdgeWithKey(index, source, target, { size: 0.2 }));
  }

  // --- what is shown --------------------------------------------------------------------------------------------------------

  function chosen() {
    const data = new FormData(form);
    return {
      relations: new Set(data.getAll("relation").map((name) => relations.indexOf(name))),
      origins: new Set(data.getAll("origin").map((name) => origins.indexOf(name))),
      shelves: new Set(data.getAll("shelf").map(Number)),
      confidence: Number(data.get("confidence")),
    };
  }

  function here(index) { return wanted.shelves.has(documents[index][1]); }

  function shown([source, target, relation, confidence, origin]) {
    return wanted.relations.has(relation) && wanted.origins.has(origin) && (confidence === null || confidence >= wanted.confidence) && here(source) && here(target);
  }

  function told() {
    const dots = documents.reduce((sum, _, index) => sum + here(index), 0);
    const lines = links.reduce((sum, link) => sum + shown(link), 0);
    counts.textContent = `${dots} of ${documents.length} documents, ${lines} of ${links.length} links`;
    stage.dataset.dots = dots;
    stage.dataset.lines = lines;
  }

  form.addEventListener("input", (event) => {
    if (event.target.id === "find") return suggest();
    document.getElementById("confidence-said").textContent = (form.elements.confidence.value / 100).toFixed(2);
    wanted = chosen();
    renderer?.refresh({ skipIndexation: true });
    told();
    if (list.open) listed();
  });
  form.addEventListener("submit", (event) => event.preventDefault());

  // --- drawing ----------------------------------------------------------------------------------------------------------------

  function palette() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return { ink: of("ink"), soft: of("soft"), island: of("island"), folder: of("folder"), line: of("line"), dot: of("dot"), edge: of("edge"), accent: of("accent"), bad: of("bad"), paper: of("card") };
  }

  function hue(relation) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return rgb((relation * 137 + 190) % 360, 0.55, dark ? 0.68 : 0.36);
  }

  function legend() {
    for (const box of form.querySelectorAll("[name=relation]")) box.parentElement.style.borderLeft = `.6rem solid ${hue(relations.indexOf(box.value))}`;
  }

  function rgb(h, s, l) { // sigma reads hexadecimal colours
    const part = (n) => { const k = (n + h / 30) % 12; return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, "0"); };
    return `#${part(0)}${part(8)}${part(4)}`;
  }

  function draw() {
    told();
    const fine = links.length > 1500 ? "5a" : links.length > 400 ? "80" : "dd";
    try {
      renderer = new Sigma(graph, canvas, {
        itemSizesReference: "positions",
        zoomToSizeRatioFunction: (ratio) => ratio,
        minEdgeThickness: links.length > 1500 ? 0.6 : 1.3,
        minCameraRatio: 0.002,
        maxCameraRatio: 1.6,
        labelRenderedSizeThreshold: 9,
        labelDensity: 1.5,
        labelSize: 12,
        defaultDrawNodeLabel: below,
        allowInvalidContainer: true,
        nodeReducer: (index, data) => {
          if (!here(index)) return { ...data, hidden: true };
          const dim = hovered !== null && hovered !== index && !near.has(index);
          return { ...data, color: dim ? colours.line : index === hovered ? colours.bad : colours.dot, label: dim ? null : data.label, zIndex: dim ? 0 : 1 };
        },
        edgeReducer: (index, data) => {
          const link = links[index];
          if (!shown(link)) return { ...data, hidden: true };
          if (hovered === null) return { ...data, color: hue(link[2]) + fine };
          const mine = String(link[0]) === hovered || String(link[1]) === hovered;
          return mine ? { ...data, color: hue(link[2]), size: 0.8, zIndex: 1 } : { ...data, hidden: true };
        },
        defaultDrawNodeHover: () => {},
      });
    } catch (error) {
      return said("The map needs WebGL, which this browser does not offer here. The list below holds the same.");
    }
    renderer.setCustomBBox(extent());
    ground();
    renderer.on("enterNode", ({ node }) => look(node));
    renderer.on("leaveNode", () => look(null));
    renderer.on("clickNode", ({ node }) => { location.href = stage.dataset.document + documents[node][0]; });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = palette(); legend(); renderer.refresh({ skipIndexation: true }); });
    const first = Number(location.hash.slice(1));
    const at = first ? documents.findIndex(([id]) => id === first) : -1;
    if (at >= 0) { fly(String(at), 0); look(String(at)); }
  }

  function extent() { // of all islands; a few documents do not fill the picture
    const shores = islands.children ?? [];
    const ends = ["x", "y"].map((axis) => {
      const low = Math.min(...shores.map((island) => island[axis] - island.r)), high = Math.max(...shores.map((island) => island[axis] + island.r));
      const spare = Math.max(0, (150 - (high - low)) / 2);
      return [low - spare, high + spare];
    });
    return { x: ends[0], y: [-ends[1][1], -ends[1][0]] };
  }

  function below(pen, data, settings) { // a name stands below its dot, where no neighbour lies in the way
    if (!data.label) return;
    pen.font = `${settings.labelSize}px system-ui, sans-serif`;
    pen.fillStyle = colours.ink;
    pen.textAlign = "center";
    pen.fillText(fitting(data.label, 110), data.x, data.y + data.size + settings.labelSize);
  }

  function ground() {
    renderer.createCanvasContext("ground", { beforeLayer: "edges", style: { pointerEvents: "none" } });
    const layer = renderer.getCanvases().ground;
    const pen = layer.getContext("2d");
    const circles = islands.descendants().filter((node) => node.depth > 0 && node.data.index === undefined);
    renderer.resize(true);
    renderer.on("afterRender", () => {
      const { width, height } = renderer.getDimensions();
      const ratio = layer.width / width || 1;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      const zero = renderer.graphToViewport({ x: 0, y: 0 });
      const scale = renderer.graphToViewport({ x: 1, y: 0 }).x - zero.x;
      const names = [];
      for (const node of circles) {
        const shelf = node.ancestors().at(-2).data.shelf;
        const r = node.r * scale, x = zero.x + node.x * scale, y = zero.y + node.y * scale;
        if (!wanted.shelves.has(shelf) || r < 3 || x + r < 0 || y + r < 0 || x - r > width || y - r > height) continue;
        pen.beginPath();
        pen.arc(x, y, r, 0, 2 * Math.PI);
        pen.fillStyle = node.depth === 1 ? colours.island : colours.folder;
        pen.globalAlpha = node.depth === 1 ? 1 : 0.6;
        pen.fill();
        pen.globalAlpha = 1;
        pen.strokeStyle = colours.line;
        pen.stroke();
        if (node.depth === 1 ? r > 14 : r > 46 && r < 0.9 * width) names.push([node, x, y - r, r]);
      }
      pen.textAlign = "center";
      for (const [node, x, y, r] of names) {
        pen.font = node.depth === 1 ? "600 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
        pen.fillStyle = node.depth === 1 ? colours.ink : colours.soft;
        const at = Math.max(y - 4, Math.min(14, y + 2 * r));
        pen.fillText(fitting(node.data.name, Math.max(2 * r, 60)), x, node.depth === 1 ? at : y + 13);
      }
    });
    renderer.refresh();
  }

  function fitting(name, width) {
    const most = Math.max(6, Math.floor(width / 6.5));
    return name.length > most ? `${name.slice(0, most - 1)}…` : name;
  }

  function look(node) {
    hovered = node;
    near = new Set(node === null ? [] : graph.filterEdges(node, (edge) => shown(links[edge])).flatMap((edge) => graph.extremities(edge)));
    tip.hidden = node === null;
    if (node !== null) tip.textContent = `${documents[node][2]} · ${documents[node][3]} · ${near.size ? near.size - 1 : 0} linked`;
    canvas.style.cursor = node === null ? "grab" : "pointer";
    renderer?.refresh({ skipIndexation: true });
  }

  function fly(node, duration = still ? 0 : 400) {
    const { x, y } = renderer.getNodeDisplayData(node);
    renderer.getCamera().animate({ x, y, ratio: 0.08 }, { duration });
  }

  // --- finding, keys ------------------------------------------------------------------------------------------------------------


  function suggest() {
    const words = find.value.trim().toLowerCase();
    const titles = document.getElementById("titles");
    titles.replaceChildren();
    if (!words) return look(null);
    const fitting = [];
    for (let index = 0; index < documents.length && fitting.length < 20; index++) if (here(index) && documents[index][2].toLowerCase().includes(words)) fitting.push(index);
    for (const index of fitting) titles.append(new Option(documents[index][2]));
    const exact = fitting.find((index) => documents[index][2].toLowerCase() === words);
    const one = exact ?? (fitting.length === 1 ? fitting[0] : undefined);
    if (one !== undefined && renderer) { look(String(one)); fly(String(one)); }
  }

  find.addEventListener("keydown", (event) => { if (event.key === "Enter" && hovered !== null) location.href = stage.dataset.document + documents[hovered][0]; });

  const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  canvas.addEventListener("keydown", (event) => {
    const camera = renderer?.getCamera();
    if (!camera) return;
    const { x, y, ratio } = camera.getState();
    if (moves[event.key]) camera.setState({ x: x + moves[event.key][0] * ratio, y: y + moves[event.key][1] * ratio });
    else if (event.key === "+" || event.key === "=") zoom("in");
    else if (event.key === "-") zoom("out");
    else if (event.key === "0") zoom("all");
    else return;
    event.preventDefault();
  });

  function zoom(way) {
    const camera = renderer?.getCamera();
    const duration = still ? 0 : 200;
    if (way === "in") camera?.animatedZoom({ duration });
    else if (way === "out") camera?.animatedUnzoom({ duration });
    else camera?.animatedReset({ duration });
  }

  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(button.dataset.zoom));

  // --- the same as a list ---------------------------------------------------------------------------------------------------------

  function listed() {
    const place = list.lastElementChild;
    place.replaceChildren();
    if (!list.open) return;
    for (const [shelf, name] of shelves) {
      if (!wanted.shelves.has(shelf)) continue;
      const head = document.createElement("h2");
      head.textContent = name;
      const items = document.createElement("ul");
      documents.forEach(([id, home, title], index) => {
        if (home !== shelf) return;
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = stage.dataset.document + id;
        link.textContent = title;
        item.append(link, degree[index] ? ` (${degree[index]})` : "");
        items.append(item);
      });
      place.append(head, items);
    }
  }

  list.addEventListener("toggle", listed);

  build();
  legend();
  draw();
  performance.mark("map-ready");
  stage.dataset.ready = documents.length;

  // A few things for those who test the page.
  stage.positions = () => documents.map((_, index) => { const { x, y } = graph.getNodeAttributes(index); return [Math.round(x * 100), Math.round(y * 100)]; });
  stage.place = (index) => renderer.graphToViewport(graph.getNodeAttributes(index));
})();
