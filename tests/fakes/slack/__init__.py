"""A Slack for tests and for `make play`; see FakeSlack."""

from tests.fakes.slack.delivery import Delivery
from tests.fakes.slack.faults import RATE_LIMITED, SERVER_ERROR, Fault
from tests.fakes.slack.person import Person
from tests.fakes.slack.reading import labels, words
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.state import Channel, Message, View

__all__ = [
    "RATE_LIMITED",
    "SERVER_ERROR",
    "Channel",
    "Delivery",
    "FakeSlack",
    "Fault",
    "Message",
    "Person",
    "View",
    "labels",
    "words",
]
