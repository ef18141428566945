"""`make play`: ritbot whole in a Slack workspace on a local page, the fake Slack with a face. See Play.

A program that people run, and no test. It lives here because it is made of the fake Slack, which no release carries;
the product knows nothing of it. Its tests are in tests/unit/play and tests/e2e.
"""

from tests.play.page import Play

__all__ = ["Play"]
