"""One page that tells what a fit did: `LPJT.report` makes it, `lpjt adapt --report` writes it beside the labels.

`rows` collects what the model kept and what the caller gives, `layout`, `shift`, `doubt` and `checks` compute, `story`
puts it into words, `svg` and `scatter` draw, `page` fills the template. Nothing here changes the model.
"""

from lpjt.report.page import make_report
from lpjt.report.summary import summary_html

__all__ = ["make_report", "summary_html"]
