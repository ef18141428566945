"""A Slack for tests and for `make play`, as far as ritbot meets one: see FakeSlack. Beside what is named here, tests take
`limits` and what is of one module's matter."""

from tests.fakes.slack.events import Delivery
from tests.fakes.slack.person import NotThere, Person, labels, words
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.state import Channel, Clock, Message, Team, View
from tests.fakes.slack.web_api import RATE_LIMITED, SERVER_ERROR, Fault

__all__ = [
    "RATE_LIMITED",
    "SERVER_ERROR",
    "Channel",
    "Clock",
    "Delivery",
    "FakeSlack",
    "Fault",
    "Message",
    "NotThere",
    "Person",
    "Team",
    "View",
    "labels",
    "words",
]
