"""The style sheet of the report: light and dark by what the reader's system prefers, and for paper.

Contrast: every text colour has at least 4.5:1 against its background (WCAG 2.1, success criterion 1.4.3),
and nothing is told by colour alone.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f5f6f8; --text: #1b1f24; --quiet: #57606a; --rule: #d0d7de;
  --packet: #8fb4dc; --packet-text: #0b2545; --other: #b9c7b4; --cut: #cfd6dd;
  --bad: #c62828; --bad-text: #ffffff; --bad-soft: #fdecea; --good: #1a7f37;
  --wait: #e0a63b; --cause: #7b3fb5; --link: #0a58ca; --sample-in: #b35900;
}
@media (prefers-color-scheme: dark) { :root {
  --page: #14171b; --panel: #1d2127; --text: #e6e9ed; --quiet: #a3adb8; --rule: #3a424c;
  --packet: #3f6ea3; --packet-text: #f2f7fd; --other: #5c7355; --cut: #48515b;
  --bad: #ff7b72; --bad-text: #1b0606; --bad-soft: #3a1d1b; --good: #56d364;
  --wait: #d29922; --cause: #c297ff; --link: #79b8ff; --sample-in: #f0a35e;
} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 28px; line-height: 1.25; margin: 4px 0 8px; }
h2 { font-size: 19px; margin: 36px 0 10px; padding-bottom: 4px; border-bottom: 1px solid var(--rule); }
h3 { font-size: 16px; margin: 20px 0 6px; }
p { margin: 6px 0; max-width: 78ch; }
a { color: var(--link); }
.eyebrow { color: var(--quiet); letter-spacing: .04em; margin: 0; }
.lead { font-size: 17px; }
.headline { border-left: 6px solid var(--bad); padding-left: 18px; }
.headline.fine { border-color: var(--good); }
.headline.unsure { border-color: var(--wait); }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px;
  margin: 16px 0 0; }
dl.facts div { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px;
  padding: 8px 12px; }
dl.facts dt { color: var(--quiet); font-size: 13px; }
dl.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
dl.facts dd small { font-weight: 400; color: var(--quiet); display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 8px 0; font-size: 14px; }
caption { text-align: left; color: var(--quiet); padding: 2px 0 6px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
thead th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.w { white-space: nowrap; }
code, .hex, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: 13px; }
.hex { white-space: nowrap; }
.hex mark { background: var(--bad); color: var(--bad-text); font-weight: 700; padding: 0 1px;
  text-decoration: underline; }
tr.bad td { background: var(--bad-soft); }
.bad-word { color: var(--bad); font-weight: 700; }
.fine-word { color: var(--good); }
pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: 10px 14px;
  overflow-x: auto; }
.note { background: var(--panel); border-left: 4px solid var(--wait); padding: 8px 14px;
  margin: 10px 0; max-width: none; }
figure { margin: 10px 0 0; }
figcaption { color: var(--quiet); font-size: 14px; }
footer { margin-top: 44px; color: var(--quiet); font-size: 13px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; color: var(--quiet); font-size: 13px;
  margin: 4px 0 0; padding: 0; list-style: none; }
.legend svg { width: 22px; height: 12px; vertical-align: -1px; margin-right: 5px; }
svg.drawing { width: 100%; min-width: 760px; height: auto; display: block; }
svg text { font: 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--text); }
svg .label { fill: var(--quiet); } svg .group { font-weight: 700; }
svg text.inside { font-size: 10px; fill: var(--packet-text); stroke: none; }
svg .rule, svg .axis { stroke: var(--quiet); stroke-width: 1; }
svg .lane { stroke: var(--rule); stroke-width: .7; } svg .grid { stroke: var(--rule); stroke-width: .7; }
svg .packet { fill: var(--packet); stroke: var(--page); stroke-width: .5; }
svg .other { fill: var(--other); stroke: var(--page); stroke-width: .5; }
svg .cut { fill: var(--cut); stroke: var(--page); stroke-width: .5; }
svg .bad { fill: var(--bad); stroke: var(--text); stroke-width: 1; }
svg text.inside.bad { fill: var(--bad-text); stroke: none; font-weight: 700; }
svg text.inside.cut, svg text.inside.other { fill: var(--text); }
svg .wait { fill: var(--wait); }
svg .tick { stroke: var(--quiet); stroke-width: 1; fill: none; }
svg .tick.refused { stroke: var(--bad); stroke-width: 2; }
svg .tick.credit { stroke: var(--link); } svg .tick.note { stroke: var(--good); }
svg .tick.link { stroke: var(--wait); }
svg .mark { stroke-width: 1.6; } svg .mark.cause { stroke: var(--cause); stroke-dasharray: 6 3; }
svg .mark.finding { stroke: var(--bad); }
svg .flag.cause, svg .marklabel.cause { fill: var(--cause); }
svg .flag.finding, svg .marklabel.finding { fill: var(--bad); } svg .marklabel { font-weight: 700; }
svg .band { opacity: .16; } svg .band.finding { fill: var(--bad); } svg .band.cause { fill: var(--cause); }
svg .out { fill: none; stroke: var(--link); stroke-width: 1.6; }
svg .in { fill: none; stroke: var(--sample-in); stroke-width: 1.6; stroke-dasharray: 5 3; }
svg text.out { fill: var(--link); stroke: none; } svg text.in { fill: var(--sample-in); stroke: none; }
@media print {
  :root { color-scheme: light; --page: #fff; --panel: #fff; --text: #000; --quiet: #444;
    --rule: #bbb; --packet: #8fb4dc; --packet-text: #0b2545; --other: #b9c7b4; --cut: #cfd6dd;
    --bad: #b71c1c; --bad-text: #fff; --bad-soft: #fdecea; --good: #14602a; --wait: #c98a1b;
    --cause: #5b2a91; --link: #0a58ca; --sample-in: #8a4500; }
  body { font-size: 11px; } main { max-width: none; padding: 0; }
  table { font-size: 10.5px; } code, .hex, pre { font-size: 9.5px; }
  h2 { break-after: avoid; } figure, tr, dl.facts div, .headline { break-inside: avoid; }
  thead { display: table-header-group; } .scroll { overflow: visible; } svg.drawing { min-width: 0; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
