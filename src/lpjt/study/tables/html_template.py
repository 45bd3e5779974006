"""The template of the HTML page of tables, filled in by `lpjt.study.tables.markup.to_html`."""

# Everything is inline, so that the file can be mailed. The names of rows and columns stay in sight while a wide table
# is scrolled, and on a phone the table scrolls inside its own frame.
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark;
  --ink: #1d2430; --faint: #667085; --paper: #ffffff; --line: #d9dee7; --head: #f3f5f9;
  --best: #d9f2e3; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6e9ef; --faint: #98a2b3; --paper: #14181f; --line: #333b48; --head: #1f2630;
  --best: #14452f; --bad: #ff8a7a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 90rem; color: var(--ink); background: var(--paper);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .25rem; }
p.sub { margin: 0; color: var(--faint); font-size: .9rem; }
.frame { overflow: auto; max-height: 85vh; width: fit-content; max-width: 100%;
  margin: .75rem 0; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; position: sticky; top: 0; z-index: 2; background: var(--head); }
th:first-child { position: sticky; left: 0; z-index: 1; text-align: left; background: var(--head); font-weight: 500; }
thead th:first-child { z-index: 3; }
thead button { all: unset; cursor: pointer; font-weight: 600; }
thead button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
thead th[aria-sort=descending] button::after { content: " \\2193"; }
thead th[aria-sort=ascending] button::after { content: " \\2191"; }
tr:last-child > * { border-bottom: 0; }
tr.total > * { border-top: 2px solid var(--line); }
td.best { background: var(--best); }
td small { display: block; color: var(--faint); font-size: .8em; line-height: 1.2; }
td b, td small b { font-weight: 700; color: var(--ink); }
td .failed { color: var(--bad); }
.key { color: var(--faint); font-size: .85rem; }
.key i { font-style: normal; background: var(--best); color: var(--ink); padding: 0 .3rem; border-radius: 3px; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
ul.notes { color: var(--faint); font-size: .85rem; padding-left: 1.1rem; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
{% for grid in grids %}
<section>
<h2>{{ grid.title }}</h2>
{% for line in grid.subtitle %}
<p class="sub">{{ line }}</p>
{% endfor %}
<div class="frame" tabindex="0" role="region" aria-label="{{ grid.title }}">
<table>
<thead><tr><th scope="col">{{ grid.corner }}</th>
{% for column in grid.columns %}
<th scope="col"><button type="button" title="Sort by {{ column }}">{{ column }}</button></th>
{% endfor %}
</tr></thead>
<tbody>
{% for row in grid.rows %}
<tr{% if row.total %} class="total"{% endif %}><th scope="row">{{ row.name }}</th>
{% for entry in row.entries %}
<td{% if entry.best %} class="best"{% endif %}{% if entry.ours is not none %} data-value="{{ entry.ours }}"{% endif %}>
{%- if entry.failed %}<span class="failed">failed</span>
{%- elif entry.better == "ours" %}<b>{{ ours(entry) }}</b>
{%- else %}{{ ours(entry) }}
{%- endif %}
{%- if entry.published is not none %}<small>
{%- if entry.better == "published" %}<b>{{ number(entry.published) }}</b>
{%- else %}{{ number(entry.published) }}
{%- endif -%}
</small>{% endif -%}
</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
<p class="key">Accuracy in per cent.
{% if has_published(grid) %}
Ours above, the published figure below it in small type; the better of the two is <b>bold</b>.
{% endif %}
The best of ours on a pair is <i>shaded</i>. A click on a heading sorts.</p>
{% if grid.tests %}
<details{% if grid.tests | length < 8 %} open{% endif %}>
<summary>{{ grid.ours }} against the others, {{ test }}</summary>
<div class="frame"><table class="tests">
<thead><tr><th scope="col">method</th><th>points</th><th>wins</th><th>ties</th><th>losses</th><th>p</th>
<th>p, Holm</th></tr></thead>
<tbody>
{% for one in grid.tests %}
<tr><th scope="row">{{ one.method }}</th><td>{{ "%+.1f" | format(one.difference) }}</td><td>{{ one.wins }}</td>
<td>{{ one.ties }}</td><td>{{ one.losses }}</td>
{% if one.p is none %}
<td colspan="2">too few pairs</td>
{% else %}
<td>{{ "%.2g" | format(one.p) }}</td><td>{{ "%.2g" | format(one.p_adjusted) }}</td>
{% endif %}
</tr>
{% endfor %}
</tbody></table></div>
</details>
{% endif %}
{% if grid.notes %}
<ul class="notes">
{% for note in grid.notes %}
<li>{{ note }}</li>
{% endfor %}
</ul>
{% endif %}
</section>
{% endfor %}
<script>
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => Number(row.cells[head.cellIndex].dataset.value ?? (down ? -1 : 101));
    const rows = [...body.rows], totals = rows.filter(row => row.className === "total");
    const others = rows.filter(row => row.className !== "total");
    others.sort((a, b) => down ? value(b) - value(a) : value(a) - value(b));
    body.append(...others, ...totals);
  });
}
</script>
</body>
</html>
"""
