"use strict";
(() => {
  document.documentElement.classList.add("js");
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  const holder = document.getElementById("points");
  if (!holder) return;

  const data = JSON.parse(holder.textContent);
  const NS = "http://www.w3.org/2000/svg";
  const SIZE = 2.6, NEAR = 16, CLOSEST = 40;
  const box = document.querySelector(".panels");
  const tip = document.getElementById("tip");
  const doubtful = data.sure.map((s, i) => [s, i]).filter(([s]) => s !== null).sort((a, b) => a[0] - b[0]).map(([, i]) => i);
  let next = -1;
  document.querySelector(".controls").hidden = false;

  const make = (parent, tag, css) => {
    const node = document.createElementNS(NS, tag);
    node.setAttribute("class", css);
    return parent.appendChild(node);
  };

  const panels = [...document.querySelectorAll(".frame")].map((frame, number) => {
    const svg = frame.firstElementChild;
    const [x, y] = data.panels[number];
    const groups = [...svg.querySelectorAll(".points path")].map((path) => {
      const [domain, code] = path.dataset.g.split(":").map(Number);
      const rows = [];
      data.code.forEach((c, i) => { if (c === code && data.domain[i] === domain && x[i] !== null) rows.push(i); });
      return { path, code, rows, isTarget: path.classList.contains("target") };
    });
    svg.setAttribute("tabindex", "0");
    return { svg, x, y, groups, view: [0, 0, data.width, data.height],
      wrong: make(svg, "path", "wrong"), ring: make(svg, "circle", "ring") };
  });

  // Marks keep their size on the screen, whatever the zoom.
  const redraw = (panel) => {
    const scale = panel.view[2] / data.width;
    panel.svg.setAttribute("viewBox", panel.view.map((v) => v.toFixed(2)).join(" "));
    const s = SIZE * scale, w = 2 * s;
    for (const group of panel.groups) {
      if (!group.isTarget) continue;
      group.path.setAttribute("d", group.rows.map((i) =>
        `M${panel.x[i] - s} ${panel.y[i] - s}l${w} ${w}m0 ${-w}l${-w} ${w}`).join(""));
    }
    for (const text of panel.svg.querySelectorAll(".names text")) {
      text.style.fontSize = scale === 1 ? "" : `${(innerWidth < 704 ? 25 : 17) * scale}px`;
      text.style.strokeWidth = scale === 1 ? "" : `${4 * scale}px`;
    }
    const r = 5 * scale, mistakes = document.getElementById("mistakes");
    panel.wrong.setAttribute("d", mistakes && mistakes.checked ? data.wrong.filter((i) => panel.x[i] !== null).map((i) =>
      `M${panel.x[i] - r} ${panel.y[i]}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`).join("") : "");
    panel.ring.setAttribute("r", 8 * scale);
  };

  const zoom = (panel, factor, cx = 0.5, cy = 0.5) => {
    const [x, y, w, h] = panel.view;
    const width = Math.min(data.width, Math.max(data.width / CLOSEST, w * factor));
    const height = width * data.height / data.width;
    panel.view = [x + (w - width) * cx, y + (h - height) * cy, width, height];
    keep(panel);
  };
  const keep = (panel) => {
    const v = panel.view;
    v[0] = Math.min(Math.max(v[0], 0), data.width - v[2]);
    v[1] = Math.min(Math.max(v[1], 0), data.height - v[3]);
    redraw(panel);
  };
  const move = (panel, dx, dy) => { panel.view[0] += dx * panel.view[2]; panel.view[1] += dy * panel.view[3]; keep(panel); };
  const reset = (panel) => { panel.view = [0, 0, data.width, data.height]; redraw(panel); };

  const describe = (i) => {
    const lines = [], domain = data.domains[data.domain[i]];
    const label = data.code[i] < 0 ? "unknown" : data.classes[data.code[i]];
    lines.push([domain.source ? "label" : "label found", label]);
    if (data.sure[i] !== null) lines.push(["confidence", `${data.sure[i]} %`]);
    if (data.truth[i] !== null) lines.push(["known label", data.truth[i]]);
    data.columns[data.domain[i]].forEach((name, k) => lines.push([name, data.values[i][k]]));
    tip.replaceChildren();
    const head = document.createElement("b");
    head.textContent = `${data.ids[i]} · ${domain.name}`;
    const list = document.createElement("dl");
    for (const [name, value] of lines) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name; dd.textContent = value;
      list.append(dt, dd);
    }
    tip.append(head, list);
  };
  const show = (i, panel) => {
    for (const p of panels) {
      const here = i !== null && p.x[i] !== null;
      p.ring.style.display = here ? "" : "none";
      if (here) { p.ring.setAttribute("cx", p.x[i]); p.ring.setAttribute("cy", p.y[i]); }
    }
    tip.hidden = i === null;
    if (i === null) return;
    describe(i);
    const frame = panel.svg.getBoundingClientRect(), v = panel.view;
    const px = frame.left + (panel.x[i] - v[0]) / v[2] * frame.width;
    const py = frame.top + (panel.y[i] - v[1]) / v[3] * frame.height;
    const wide = tip.offsetWidth, tall = tip.offsetHeight;
    tip.style.left = `${Math.max(4, Math.min(innerWidth - wide - 4, px + 14))}px`;
    tip.style.top = `${py + tall + 20 > innerHeight ? Math.max(4, py - tall - 14) : py + 14}px`;
  };

  const nearest = (panel, event) => {
    const frame = panel.svg.getBoundingClientRect(), v = panel.view;
    const px = v[0] + (event.clientX - frame.left) / frame.width * v[2];
    const py = v[1] + (event.clientY - frame.top) / frame.height * v[3];
    let best = null, least = (NEAR * v[2] / frame.width) ** 2;
    for (const group of panel.groups) {
      if (group.path.classList.contains("dim")) continue;
      for (const i of group.rows) {
        const d = (panel.x[i] - px) ** 2 + (panel.y[i] - py) ** 2;
        if (d < least) { least = d; best = i; }
      }
    }
    return best;
  };

  for (const panel of panels) {
    let from = null;
    panel.ring.style.display = "none";
    panel.svg.addEventListener("pointerdown", (e) => {
      if (e.pointerType === "mouse") { from = [e.clientX, e.clientY]; panel.svg.setPointerCapture(e.pointerId); }
      else show(nearest(panel, e), panel);
    });
    panel.svg.addEventListener("pointermove", (e) => {
      if (from) {
        const frame = panel.svg.getBoundingClientRect();
        move(panel, (from[0] - e.clientX) / frame.width, (from[1] - e.clientY) / frame.height);
        from = [e.clientX, e.clientY];
      } else if (e.pointerType === "mouse") show(nearest(panel, e), panel);
    });
    panel.svg.addEventListener("pointerup", () => { from = null; });
    panel.svg.addEventListener("pointerleave", () => { from = null; show(null); });
    panel.svg.addEventListener("blur", () => show(null));
    panel.svg.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey) return; // a plain wheel scrolls the page
      e.preventDefault();
      const frame = panel.svg.getBoundingClientRect();
      zoom(panel, e.deltaY < 0 ? 0.8 : 1.25, (e.clientX - frame.left) / frame.width, (e.clientY - frame.top) / frame.height);
    }, { passive: false });
    panel.svg.addEventListener("dblclick", (e) => {
      const frame = panel.svg.getBoundingClientRect();
      zoom(panel, 0.5, (e.clientX - frame.left) / frame.width, (e.clientY - frame.top) / frame.height);
    });
    panel.svg.addEventListener("keydown", (e) => {
      const step = (way) => { next = (next + way + doubtful.length) % doubtful.length; show(doubtful[next], panel); };
      const keys = { "+": () => zoom(panel, 0.7), "=": () => zoom(panel, 0.7), "-": () => zoom(panel, 1.4), "0": () => reset(panel),
        ArrowLeft: () => move(panel, -0.15, 0), ArrowRight: () => move(panel, 0.15, 0),
        ArrowUp: () => move(panel, 0, -0.15), ArrowDown: () => move(panel, 0, 0.15),
        n: () => step(1), p: () => step(-1), Escape: () => show(null) };
      if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key] || (/^[np]$/.test(e.key) && !doubtful.length)) return;
      e.preventDefault();
      keys[e.key]();
    });
  }

  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    for (const panel of panels) {
      if (button.dataset.zoom === "reset") reset(panel);
      else zoom(panel, button.dataset.zoom === "in" ? 0.6 : 1 / 0.6);
    }
  }));
  document.querySelectorAll("[name=colour]").forEach((radio) => radio.addEventListener("change", () => {
    box.classList.toggle("by-class", radio.value === "class");
    box.classList.toggle("by-domain", radio.value === "domain");
  }));
  const mistakes = document.getElementById("mistakes");
  if (mistakes) mistakes.addEventListener("change", () => panels.forEach(redraw));

  const buttons = [...document.querySelectorAll("[data-class]")];
  buttons.forEach((button) => button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    const chosen = new Set(buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => Number(b.dataset.class)));
    for (const panel of panels) {
      for (const group of panel.groups) group.path.classList.toggle("dim", chosen.size > 0 && !chosen.has(group.code));
    }
  }));
})();
