"""Permalinks in a browser: the page of a section, who may see it, the routes.
starlette and Jinja2 enter here, and the texts of pages leave only through templates that escape."""
