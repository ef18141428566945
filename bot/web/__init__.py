"""Pages in a browser: of a section, and for those who run ritbot; who may see them, the routes.
starlette and Jinja2 enter here, and the texts of pages leave only through templates that escape."""
