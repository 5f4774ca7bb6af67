// The interactive part of the report. Without it everything is there already: this only lets a reader
// zoom and pan the drawings, and sort and filter the tables. It reads nothing but this page; every text
// goes in as text, never as markup.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const UNITS = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];
  const MOST_ROWS_SMALL = 6;
  const THIN = 4; // pixels under which a bar has no outline, which would take much of its width
  const BESIDE = 7; // pixels between the line of a mark and its label
  const HALF = 3.72; // pixels, of a letter on the axis

  function node(name, attributes, text) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
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
  function show(node, on) {
    if (on) node.removeAttribute("display"); else node.setAttribute("display", "none");
    return on;
  }

  // Where a drawing is wider than the screen and scrolled, its headings stay at the left, and with an axis the names
  // of its lanes, on a ground.
  function keepNames(svg, axis) {
    const box = svg.parentElement, names = node("g", { class: "names" });
    const { width, height } = svg.viewBox.baseVal;
    if (axis) {
      const left = Number(axis.getAttribute("x1"));
      names.append(node("rect", { x: 0, y: 0, width: left - 4, height: height, class: "ground" }));
    }
    for (const text of [...svg.children])
      if (text.matches(axis ? "text.label, text.group" : "text.group")) names.append(text);
    svg.append(names);
    const stay = () => {
      const by = box.scrollLeft * width / svg.getBoundingClientRect().width;
      names.setAttribute("transform", "translate(" + by + ",0)");
      names.classList.toggle("over", by > 0);
    };
    box.addEventListener("scroll", stay);
    stay();
  }
  // Where a drawing is wider than the screen, the first finding, or what is broken, is brought into sight.
  function reveal(svg) {
    const box = svg.parentElement, mark = svg.querySelector("line.finding:not([display]), text.broken");
    if (!mark || box.scrollWidth <= box.clientWidth) return;
    const place = mark.getBoundingClientRect(), frame = box.getBoundingClientRect();
    box.scrollLeft += (place.left + place.right) / 2 - (frame.left + frame.right) / 2;
  }

  // A drawing as the report wrote it. Every mark along its axis says its time, in picoseconds: data-t what lasts
  // from one to another, data-at what happens at one. A view of another range moves them, and hides what is outside
  // or has no room; nothing is drawn here but the numbers of the axis.
  class View {
    constructor(figure, moving, views) {
      this.svg = moving.ownerSVGElement;
      this.moving = moving;
      const pair = (name) => moving.dataset[name].split(" ").map(Number);
      this.across = pair("x");
      this.first = pair("shown");
      this.all = pair("all");
      [this.t0, this.t1] = this.first;
      this.width = this.svg.viewBox.baseVal.width;
      this.lasting = [...moving.querySelectorAll("[data-t]")].map((node) => {
        const [from, to] = node.dataset.t.split(" ").map(Number);
        const { needs, least } = node.dataset;
        return { node, from, to, needs: Number(needs || 0), least: Number(least || 0), text: node.tagName === "text" };
      });
      this.standing = [...moving.querySelectorAll("[data-at]")].map((node) => {
        const t = Number(node.dataset.at);
        const was = this.x(t), wide = Number(node.dataset.wide || 0), row = node.getAttribute("y");
        // A label stays on the side of its line on which it was written.
        const beside = node.hasAttribute("display") ? BESIDE : node.getAttribute("x") - was;
        return { node, t, was, wide, row, beside };
      });
      this.standing.sort((a, b) => a.t - b.t);
      const tools = document.createElement("div");
      tools.className = "tools";
      tools.append(
        control("−", "Zoom out", () => this.zoom(2)), control("+", "Zoom in", () => this.zoom(0.5)),
        control("←", "Earlier", () => this.pan(-0.5)), control("→", "Later", () => this.pan(0.5)),
        control("Reset", "Back to the range the report shows without a script", () => this.set(...this.first)),
        control("All", "The whole recording", () => this.set(...this.all)),
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
      this.drag();
      this.tell();
    }
    tell() { this.said.textContent = formatPs(this.t0) + " to " + formatPs(this.t1); }
    x(t) {
      const [x0, x1] = this.across;
      return x0 + (t - this.t0) * (x1 - x0) / (this.t1 - this.t0);
    }
    clamp(t) { return Math.min(Math.max(this.x(t), this.across[0]), this.across[1]); }
    timeAt(event) {
      const box = this.svg.getBoundingClientRect(), [x0, x1] = this.across;
      const x = (event.clientX - box.left) * this.width / box.width;
      return this.t0 + Math.min(Math.max((x - x0) / (x1 - x0), 0), 1) * (this.t1 - this.t0);
    }
    set(t0, t1) {
      const [least, most] = this.all;
      const span = Math.min(Math.max(Math.round(t1 - t0), 100), most - least);
      this.t0 = Math.round(Math.min(Math.max(t0, least), most - span));
      this.t1 = this.t0 + span;
      this.place();
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
        Home: () => this.set(...this.all),
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
        const box = this.svg.getBoundingClientRect(), [x0, x1] = this.across;
        const moved = (event.clientX - from.x) * this.width / box.width / (x1 - x0);
        this.set(from.t0 - moved * (from.t1 - from.t0), from.t1 - moved * (from.t1 - from.t0));
      });
      for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { from = null; });
    }
    place() {
      const [x0, x1] = this.across, rate = (x1 - x0) / (this.t1 - this.t0), ends = {};
      for (const { node, from, to, needs, least, text } of this.lasting) {
        const left = this.clamp(from), wide = this.clamp(to) - left;
        if (!show(node, to > this.t0 && from < this.t1 && wide >= needs)) continue;
        node.setAttribute("x", text ? left + wide / 2 : left);
        if (text) continue;
        node.setAttribute("width", Math.max(wide, least));
        if (least) node.classList.toggle("thin", wide < THIN);
      }
      for (const { node, t, was, wide, row, beside } of this.standing) {
        let x = this.x(t);
        const label = wide > 0, seen = t >= this.t0 && t <= this.t1;
        if (label) {
          x = Math.min(Math.max(x + beside, 0), this.width - wide);
          // Labels that stood beside each other may meet: the later one has its tip still.
          if (!show(node, seen && !(ends[row] > x))) continue;
          ends[row] = x + wide + BESIDE;
          node.setAttribute("x", x);
        } else if (show(node, seen)) node.setAttribute("transform", "translate(" + (x - was) + ",0)");
      }
      for (const group of this.moving.querySelectorAll("g.dots"))
        show(group, [...group.children].filter((dot) => dot.getAttribute("display") !== "none").length <= group.dataset.most);
      const [f0, f1] = this.first, by = (f1 - f0) / (this.t1 - this.t0);
      for (const group of this.moving.querySelectorAll("g.scaled"))
        group.setAttribute("transform", "matrix(" + by + ",0,0,1," + (x0 - (this.t0 - f0) * rate - x0 * by) + ",0)");
      this.number();
    }
    // The numbers of the axis, in the look of those that stood there.
    number() {
      const group = this.moving.querySelector("g.ticks");
      this.tick = this.tick || [group.querySelector("line"), group.querySelector("text")];
      const times = ticks(this.t0, this.t1, 9), largest = Math.max(...times.map(Math.abs), 0);
      group.replaceChildren(...times.flatMap((t) => {
        const [line, text] = this.tick.map((node) => node.cloneNode()), x = this.x(t);
        text.textContent = formatPs(t, largest);
        const half = text.textContent.length * HALF;
        text.setAttribute("x", Math.min(Math.max(x, half), this.width - half));
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
        return [line, text];
      }));
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
  for (const moving of document.querySelectorAll("g.moving[data-all]"))
    views.push(new View(moving.closest("figure"), moving, views));
  for (const svg of document.querySelectorAll(".scroll > svg.drawing")) {
    keepNames(svg, svg.querySelector("g.moving line.axis"));
    reveal(svg);
  }
  document.querySelectorAll("table").forEach(enhanceTable);
  document.documentElement.dataset.enhanced = String(views.length);
})();
