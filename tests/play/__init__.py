"""A Slack workspace to try the bot in, on a local page: the fake Slack with a face. See Play."""

from tests.play.page import Play

__all__ = ["Play"]
