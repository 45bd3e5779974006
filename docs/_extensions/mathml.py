"""Formulas as MathML, written into the pages when they are built: every browser shows it, without script or network."""

from docutils import nodes
from latex2mathml.converter import convert


def _inline(self, node):
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(self, node):
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({node["number"]})</span>'
    self.body.append(f'<div class="math-block">{convert(node.astext(), display="block")}{number}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
