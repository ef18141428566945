"""An evaluation in figures, tables, charts and one page, from questions and results. Pure but for drawing.
Results of any run come in; Jinja2 and matplotlib (the extra `eval`) are known to `page` and `plots` alone."""
