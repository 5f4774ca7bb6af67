// The interactive part of the report. Without it everything is there already: this only lets a reader
// zoom and pan the drawings, and sort and filter the tables. It reads nothing but this page; every text
// goes in as text, never as markup.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const UNITS = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];
  const THIN = 1, CHARACTER = 0.62, MOST_ROWS_SMALL = 6;

  function node(name, attributes, text) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function tipped(element, tip) {
    if (tip) element.appendChild(node("title", {}, tip));
    return element;
  }
  function control(text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }
  function formatPs(t, like) {
    const size = Math.max(Math.abs(t), Math.abs(like || 0));
    const [unit, scale] = UNITS.find((u) => size >= u[1]) || UNITS[4];
    const whole = Math.floor(Math.abs(t) / scale);
    const digits = Math.round(Math.log10(scale));
    const rest = String(Math.abs(t) - whole * scale).padStart(digits, "0").replace(/0+$/, "");
    const text = whole.toLocaleString("en-US") + (digits && rest ? "." + rest : "");
    return (t < 0 ? "-" : "") + text + " " + unit;
  }
  function ticks(t0, t1, most) {
    for (let power = 1; ; power *= 10) {
      for (const digit of [1, 2, 5]) {
        const step = digit * power, first = Math.ceil(t0 / step), last = Math.floor(t1 / step);
        if (last - first < most) {
          const found = [];
          for (let n = first; n <= last; n++) found.push(n * step);
          return found;
        }
      }
    }
  }
  // The first index whose value is not below; the list rises.
  function firstAt(list, want, of) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (of(list[middle]) < want) low = middle + 1; else high = middle;
    }
    return low;
  }

  class View {
    constructor(figure, data, views) {
      this.data = data;
      this.svg = figure.querySelector("svg.drawing");
      this.moving = this.svg.querySelector("g.moving");
      this.hatch = "url(#" + this.svg.querySelector("pattern").id + ")";
      this.t0 = data.t[0];
      this.t1 = data.t[1];
      for (const lane of data.lanes || [])
        lane.longest = lane.bars.reduce((most, bar) => Math.max(most, bar[1] - bar[0]), 0);
      const tools = document.createElement("div");
      tools.className = "tools";
      tools.append(
        control("−", "Zoom out", () => this.zoom(2)), control("+", "Zoom in", () => this.zoom(0.5)),
        control("←", "Earlier", () => this.pan(-0.5)), control("→", "Later", () => this.pan(0.5)),
        control("Reset", "Back to the range the report shows without a script", () => this.set(...data.t)),
        control("All", "The whole recording", () => this.set(...data.all)),
        control("Same range everywhere", "Show this range of time in all drawings",
          () => views.forEach((view) => view.set(this.t0, this.t1))));
      this.said = document.createElement("span");
      this.said.setAttribute("role", "status");
      tools.append(this.said);
      figure.querySelector(".scroll").before(tools);
      this.svg.setAttribute("tabindex", "0");
      this.svg.addEventListener("keydown", (event) => this.key(event));
      this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.svg.addEventListener("dblclick", (event) => this.zoom(0.5, this.timeAt(event)));
      this.keepNames();
      this.drag();
      this.tell();
      this.reveal();
    }
    // Where the drawing is wider than the screen and scrolled, the names of its lanes stay at the left, on a ground.
    keepNames() {
      const box = this.svg.parentElement, names = node("g", { class: "names" });
      const high = this.svg.viewBox.baseVal.height;
      names.append(node("rect", { x: 0, y: 0, width: this.data.x[0] - 4, height: high, class: "ground" }));
      for (const text of [...this.svg.children])
        if (text.matches("text.label, text.group")) names.append(text);
      this.svg.append(names);
      const stay = () => {
        const by = box.scrollLeft * this.data.width / this.svg.getBoundingClientRect().width;
        names.setAttribute("transform", "translate(" + by + ",0)");
        names.classList.toggle("over", by > 0);
      };
      box.addEventListener("scroll", stay);
      stay();
    }
    // Where the drawing is wider than the screen, the first finding is brought into sight.
    reveal() {
      const mark = (this.data.marks || []).find((m) => m[2] === "finding" && m[0] >= this.t0 && m[0] <= this.t1);
      const box = this.svg.parentElement, wide = this.svg.getBoundingClientRect().width;
      if (mark && wide > box.clientWidth)
        box.scrollLeft = this.x(mark[0]) * wide / this.data.width - box.clientWidth / 2;
    }
    tell() { this.said.textContent = formatPs(this.t0) + " to " + formatPs(this.t1); }
    x(t) {
      const [x0, x1] = this.data.x;
      return x0 + (t - this.t0) * (x1 - x0) / (this.t1 - this.t0);
    }
    clamp(t) { return Math.min(Math.max(this.x(t), this.data.x[0]), this.data.x[1]); }
    timeAt(event) {
      const box = this.svg.getBoundingClientRect(), [x0, x1] = this.data.x;
      const x = (event.clientX - box.left) * this.data.width / box.width;
      return this.t0 + Math.min(Math.max((x - x0) / (x1 - x0), 0), 1) * (this.t1 - this.t0);
    }
    set(t0, t1) {
      const [least, most] = this.data.all;
      const span = Math.min(Math.max(Math.round(t1 - t0), 100), most - least);
      this.t0 = Math.round(Math.min(Math.max(t0, least), most - span));
      this.t1 = this.t0 + span;
      this.draw();
      this.tell();
    }
    zoom(by, at) {
      const middle = at === undefined ? (this.t0 + this.t1) / 2 : at;
      this.set(middle - (middle - this.t0) * by, middle + (this.t1 - middle) * by);
    }
    pan(by) {
      const step = (this.t1 - this.t0) * by;
      this.set(this.t0 + step, this.t1 + step);
    }
    key(event) {
      const acts = {
        ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
        Home: () => this.set(...this.data.all),
      };
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
      if (act) { event.preventDefault(); act(); }
    }
    wheel(event) {
      if (!event.ctrlKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
    }
    drag() {
      let from = null;
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || event.pointerType === "touch") return;
        from = { x: event.clientX, t0: this.t0, t1: this.t1 };
        this.svg.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (!from) return;
        const box = this.svg.getBoundingClientRect(), [x0, x1] = this.data.x;
        const moved = (event.clientX - from.x) * this.data.width / box.width / (x1 - x0);
        this.set(from.t0 - moved * (from.t1 - from.t0), from.t1 - moved * (from.t1 - from.t0));
      });
      for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { from = null; });
    }
    draw() {
      const g = node("g", { class: "moving" });
      this.axis(g);
      if (this.data.lanes) this.lanes(g);
      if (this.data.lines) this.lines(g);
      if (this.data.marks) this.marks(g);
      this.moving.replaceWith(g);
      this.moving = g;
    }
    axis(g) {
      const [x0, x1] = this.data.x, [top, bottom] = this.data.y;
      g.append(node("line", { x1: x0, y1: bottom, x2: x1, y2: bottom, class: "axis" }));
      const times = ticks(this.t0, this.t1, 7);
      const largest = Math.max(...times.map(Math.abs), 0);
      for (const t of times) {
        const text = formatPs(t, largest), half = text.length * CHARACTER * 6;
        const x = this.x(t);
        g.append(
          node("line", { x1: x, y1: this.data.lines ? bottom : top, x2: x, y2: bottom + 4, class: "grid" }),
          node("text", { x: Math.min(Math.max(x, half), this.data.width - half), y: bottom + 18, "text-anchor": "middle", class: "label" }, text));
      }
    }
    lanes(g) {
      for (const lane of this.data.lanes) {
        for (const [t0, t1, why] of lane.holes)
          if (t1 > this.t0 && t0 < this.t1) {
            const x = this.clamp(t0), width = this.clamp(t1) - x;
            g.append(tipped(node("rect", { x, y: lane.y + 2, width, height: 20, fill: this.hatch, class: "hatch" }), "not recorded: " + why));
            if (why.length * CHARACTER * 10 + 40 <= width)
              g.append(node("text", { x: x + width / 2, y: lane.y + 16, "text-anchor": "middle", class: "why" }, why));
          }
        let last = null;
        const loud = [];
        // Bars rise by their begin; none longer than the longest can reach into the view from before it.
        for (let i = firstAt(lane.bars, this.t0 - lane.longest, (bar) => bar[0]); i < lane.bars.length; i++) {
          const bar = lane.bars[i];
          if (bar[0] >= this.t1) break;
          if (bar[1] <= this.t0) continue;
          if (bar[5]) { loud.push(bar); continue; }
          const left = this.clamp(bar[0]), right = this.clamp(bar[1]), thin = right - left < 2 * THIN;
          if (last && thin && last.thin && last.css === bar[2] && left - last.right < THIN) {
            last.right = Math.max(last.right, right);
            last.count += 1;
          } else {
            this.bar(g, last, lane.y);
            last = { left, right, thin, css: bar[2], label: bar[3], tip: bar[4], count: 1 };
          }
        }
        this.bar(g, last, lane.y);
        for (const bar of loud)
          this.bar(g, { left: this.clamp(bar[0]), right: Math.max(this.clamp(bar[1]), this.clamp(bar[0]) + 3), css: bar[2], label: bar[3], tip: bar[4], count: 1 }, lane.y);
        const spots = {};
        for (let i = firstAt(lane.ticks, this.t0, (tick) => tick[0]); i < lane.ticks.length && lane.ticks[i][0] < this.t1; i++) {
          const [t, css, tip] = lane.ticks[i], x = this.x(t).toFixed(1), spot = css + x;
          if (spots[spot]) continue; // the eye cannot tell two at one place apart
          spots[spot] = true;
          g.append(tipped(node("line", { x1: x, y1: lane.y + 5, x2: x, y2: lane.y + 19, class: "tick " + css }), tip));
        }
      }
    }
    bar(g, bar, y) {
      if (!bar) return;
      const width = Math.max(bar.right - bar.left, THIN);
      const tip = bar.count > 1 ? bar.count.toLocaleString("en-US") + " together" : bar.tip;
      g.append(tipped(node("rect", { x: bar.left, y: y + 4, width, height: 16, class: bar.css + (width < 4 ? " thin" : "") }), tip));
      if (bar.count === 1 && bar.label && bar.label.length * CHARACTER * 10 + 4 <= width)
        g.append(node("text", { x: bar.left + width / 2, y: y + 16, "text-anchor": "middle", class: "inside " + bar.css }, bar.label));
    }
    lines(g) {
      for (const [t0, t1, why, y, height] of this.data.holes)
        if (t1 > this.t0 && t0 < this.t1)
          g.append(tipped(node("rect", { x: this.clamp(t0), y, width: this.clamp(t1) - this.clamp(t0), height, fill: this.hatch, class: "hatch" }), "not recorded: " + why));
      for (const line of this.data.lines) {
        const first = Math.max(0, firstAt(line.t, this.t0, (t) => t) - 1);
        const last = Math.min(line.t.length, firstAt(line.t, this.t1, (t) => t) + 1);
        let points = [], before = null;
        const end = () => {
          if (points.length > 1) g.append(node("polyline", { points: points.join(" "), class: line.css }));
          points = [];
        };
        for (let i = first; i < last; i++) {
          const inside = line.t[i] >= this.t0 && line.t[i] <= this.t1;
          let x = this.x(line.t[i]), y = line.y[i];
          if (line.step) x = this.clamp(line.t[i]);
          else if (!inside && y !== null) [x, y] = this.cut(line, i);
          if (line.step && before !== null) points.push(x.toFixed(2) + "," + before);
          if (line.step && line.t[i] > this.t1) break;
          if (y === null) { end(); before = null; continue; }
          points.push(x.toFixed(2) + "," + y);
          before = y;
          if (!line.step && inside && last - first <= 120)
            g.append(tipped(node("rect", { x: x - 2, y: y - 2, width: 4, height: 4, class: "dot d" + line.css.slice(1) }), line.v[i].toLocaleString("en-US") + " " + line.unit + ", " + formatPs(line.t[i])));
        }
        end();
      }
    }
    // Where the line from a point outside the view to its neighbour inside crosses the edge.
    cut(line, i) {
      const left = line.t[i] < this.t0, other = left ? i + 1 : i - 1, edge = left ? this.t0 : this.t1;
      const y = line.y[other];
      if (y === undefined || y === null || line.t[other] === line.t[i]) return [this.clamp(line.t[i]), line.y[i]];
      const part = (edge - line.t[i]) / (line.t[other] - line.t[i]);
      return [this.x(edge), Number((line.y[i] + part * (y - line.y[i])).toFixed(2))];
    }
    marks(g) {
      const [top, bottom] = this.data.y, ends = [];
      const shown = this.data.marks.filter((m) => m[0] >= this.t0 && m[0] <= this.t1).sort((a, b) => a[0] - b[0]);
      for (const [t, , css, unc] of shown)
        if (unc) g.append(node("rect", { x: this.clamp(t - unc), y: top, width: this.clamp(t + unc) - this.clamp(t - unc), height: bottom - top, class: "band " + css }));
      shown.forEach(([t, label, css, unc], i) => {
        const x = this.x(t), width = label.length * CHARACTER * 12;
        const later = i + 1 < shown.length ? this.x(shown[i + 1][0]) : Infinity;
        const right = x + 7 + width < Math.min(later - 7, this.data.width) || x - 7 < width;
        const left = Math.min(Math.max(right ? x + 7 : x - 7 - width, 0), this.data.width - width);
        let row = ends.findIndex((end) => left > end + 8);
        if (row < 0) row = Math.min(ends.length, Math.max(this.data.rows - 1, 0));
        ends[row] = left + width;
        const base = 16 * row + 12, tip = label + ": " + formatPs(t) + (unc ? " ± " + formatPs(unc) : "");
        g.append(
          tipped(node("line", { x1: x, y1: base + 3, x2: x, y2: bottom, class: "mark " + css }), tip),
          node("polygon", { points: `${x - 4},${base + 1} ${x + 4},${base + 1} ${x},${base + 7}`, class: "flag " + css }),
          node("text", { x: left, y: base - 2, class: "marklabel " + css }, label));
      });
    }
  }

  // What a cell sorts by: a number, a time in picoseconds, a word in hexadecimal, else its text.
  function sortKey(text) {
    const hex = /^0x([0-9a-f]+)/i.exec(text);
    if (hex) return BigInt("0x" + hex[1]);
    const number = /^(-?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(ps|ns|µs|ms|s)?(?![\w.])/i.exec(text);
    if (!number) return text;
    const unit = UNITS.find((u) => u[0] === number[2]);
    return Number(number[1].replace(/,/g, "")) * (unit ? unit[1] : 1);
  }
  function compare(a, b) {
    const plain = (v) => typeof v !== "string";
    if (plain(a) && plain(b)) return a < b ? -1 : a > b ? 1 : 0;
    if (plain(a) !== plain(b)) return plain(a) ? -1 : 1;
    return a.localeCompare(b, "en");
  }
  function enhanceTable(table) {
    const body = table.tBodies[0], rows = [...body.rows];
    if (rows.length < MOST_ROWS_SMALL) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const text = head.textContent;
      const sort = control(text, "Sort by " + text, () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = rows.map((row) => [sortKey(row.cells[column].textContent.trim()), row]);
        keyed.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
        body.append(...keyed.map((pair) => pair[1]));
      });
      head.replaceChildren(sort);
    });
    const tools = document.createElement("div");
    tools.className = "tools";
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "filter rows";
    input.setAttribute("aria-label", "Filter the rows of: " + (table.caption ? table.caption.textContent : "this table"));
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        left += row.hidden ? 0 : 1;
      }
      said.textContent = words.length ? left + " of " + rows.length + " rows" : "";
    });
    tools.append(input, said);
    // One block, so that tables beside each other keep each its own field above it.
    const scroll = table.closest(".scroll");
    const block = document.createElement("div");
    scroll.replaceWith(block);
    block.append(tools, scroll);
  }

  const views = [];
  for (const source of document.querySelectorAll('script[type="application/json"]')) {
    const figure = source.closest("figure");
    if (figure) views.push(new View(figure, JSON.parse(source.textContent), views));
  }
  document.querySelectorAll("table").forEach(enhanceTable);
  document.documentElement.dataset.enhanced = String(views.length);
})();
