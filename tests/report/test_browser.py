"""The page in Chromium: nothing is logged or asked for, and the controls work."""

import pytest

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("websocket", reason="websocket-client speaks to Chromium")

from pages import hostile, plain, points, shapes

from browser import find_chromium, open_browser

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as tab:
        yield tab


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    model, X, y, X_target, y_target = plain()
    path = tmp_path_factory.mktemp("page") / "report.html"
    wrong = y_target.copy()
    wrong[:7] = (wrong[:7] + 1) % len(model.classes_)  # so that there are mistakes to ring
    model.report(path, X=X, y=y, X_target=X_target, y_true=wrong)
    return path


@pytest.fixture
def tab(browser, page):
    """The page, freshly loaded; at the end nothing was logged, and nothing but the file was asked for."""
    browser.problems.clear()
    browser.requests.clear()
    browser.open(page)
    yield browser
    browser.run("0")
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:,"))] == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400, 320])
def test_nothing_is_wider_than_the_window(tab, page, width, dark):
    tab.open(page, width=width, dark=dark)
    assert tab.run("document.documentElement.scrollWidth") <= width


def test_hostile_strings_run_nothing(tab, tmp_path):
    model, rows = hostile()
    model.report(tmp_path / "hostile.html", **rows)
    tab.open(tmp_path / "hostile.html", width=400)
    assert tab.run("document.querySelectorAll('img, iframe, b script').length") == 0
    assert tab.run("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("name", ["several", "widths", "no target", "target alone"])
def test_other_fits_log_nothing(tab, tmp_path, name):
    model, rows = shapes()[name]
    model.report(tmp_path / "page.html", **rows)
    tab.open(tmp_path / "page.html")
    assert tab.run("document.querySelectorAll('.scatter').length") == len(
        points((tmp_path / "page.html").read_text())["panels"]
    )


def test_colours_by_class_and_by_domain(tab):
    strokes = "new Set([...document.querySelectorAll('.points path')].map(p => getComputedStyle(p).stroke)).size"
    n_classes = len(plain()[0].classes_)
    assert tab.run(strokes) == n_classes
    tab.run("document.querySelector('[value=domain]').click()")
    assert tab.run(strokes) == 2


def view(tab, number=0):
    return [
        float(x) for x in tab.run(f"document.querySelectorAll('.scatter')[{number}].getAttribute('viewBox')").split()
    ]


def test_buttons_zoom_every_drawing_and_reset(tab):
    whole = view(tab)
    tab.run("document.querySelector('[data-zoom=in]').click()")
    assert view(tab)[2] < whole[2]
    assert view(tab, 1)[2] < whole[2]
    tab.run("document.querySelector('[data-zoom=reset]').click()")
    assert view(tab) == whole


def test_the_keyboard_zooms_moves_and_steps_through_rows_in_doubt(tab):
    tab.run("document.querySelector('.scatter').focus()")
    whole = view(tab)
    tab.press("+")
    zoomed = view(tab)
    assert zoomed[2] < whole[2]
    tab.press("ArrowLeft")
    assert view(tab)[0] < zoomed[0]
    tab.press("0")
    assert view(tab) == whole
    tab.press("n")
    said = tab.run("document.getElementById('tip').innerText")
    data = tab.run("JSON.parse(document.getElementById('points').textContent).sure.filter(s => s !== null)")
    assert f"{min(data)} %" in said
    tab.press("Escape")
    assert tab.run("document.getElementById('tip').hidden")


def test_everything_can_be_reached_with_tab(tab):
    wanted = tab.run("document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]').length")
    tab.run("document.activeElement.blur()")
    name = "(e => e.tagName + (e.getAttribute('href') || e.textContent.slice(0, 20)))(document.activeElement)"
    seen = set()
    for _ in range(wanted + 5):
        tab.press("Tab")
        seen.add(tab.run(name))
    assert any("BUTTON+" in one for one in seen)
    assert any(one.startswith("svg") for one in seen)
    assert any(one.startswith("SUMMARY") for one in seen)
    assert any(one.startswith("INPUT") for one in seen)


def test_pointing_at_a_row_shows_it_in_every_drawing(tab):
    where = """(() => { const d = JSON.parse(document.getElementById('points').textContent);
        const svg = document.querySelector('.scatter'); svg.scrollIntoView({block: 'center', behavior: 'instant'});
        const b = svg.getBoundingClientRect();
        const [x, y] = d.panels[0];
        return [b.left + x[3] / d.width * b.width, b.top + y[3] / d.height * b.height]; })()"""
    tab.point(*tab.run(where))
    said = tab.run("document.getElementById('tip').innerText")
    assert "row " in said
    assert "label" in said
    rings = "[...document.querySelectorAll('.ring')].filter(r => r.style.display !== 'none').length"
    assert tab.run(rings) == 2


def test_a_class_of_the_legend_is_shown_alone(tab):
    tab.run("document.querySelector('[data-class]').click()")
    shown = "new Set([...document.querySelectorAll('.points path:not(.dim)')].map(p => p.dataset.g.split(':')[1])).size"
    assert tab.run(shown) == 1
    assert tab.run("document.querySelector('[data-class]').getAttribute('aria-pressed')") == "true"
    tab.run("document.querySelector('[data-class]').click()")
    assert tab.run("document.querySelectorAll('.dim').length") == 0


def test_mistakes_are_ringed(tab):
    assert not tab.run("document.querySelector('.wrong').getAttribute('d')")
    tab.run("document.getElementById('mistakes').click()")
    assert tab.run("document.querySelector('.wrong').getAttribute('d')").count("M") >= 7


def test_without_scripts_the_drawings_are_there(tab, page):
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(page)
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.run("document.querySelectorAll('.points path').length") > 3
    assert tab.run("getComputedStyle(document.querySelector('.controls')).display") == "none"


def test_the_page_prints(tab):
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert len(tab.call("Page.printToPDF")["data"]) > 10_000
    tab.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast(tab, page, dark):
    """4.5 for all text, as the guidelines for accessibility ask; names in drawings have an outline."""
    tab.open(page, dark=dark)
    worst = tab.run("""(() => {
      const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
      const linear = (v) => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
      const light = ([r, g, b]) => [r, g, b].map(linear)
        .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
      const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
      const text = 'p, li, th, h1, h2, h3, b, a, summary, caption, label, button, td:not([style]), .quiet';
      let least = 99, who = '';
      for (const e of document.querySelectorAll(text)) {
        if (!e.innerText || !e.offsetParent) continue;
        const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < least) { least = ratio; who = e.outerHTML.slice(0, 90); }
      }
      return [least, who]; })()""")
    assert worst[0] >= 4.5, worst
