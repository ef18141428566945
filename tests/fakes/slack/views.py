"""views.*: modals and the Home tab. A trigger opens one modal, within three seconds, once."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.slack import limits
from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.chat import with_ids
from tests.fakes.slack.state import Installation, Json, State, Trigger, View

TRIGGER_LASTS = 3.0
MOST = 3
"""Modals on top of each other."""


def trigger(state: State, user: str) -> str:
    """What an interaction hands to the app to open a modal with."""
    name = f"{state.number()}.{state.number()}.trigger"
    state.triggers[name] = Trigger(user, state.clock.now() + TRIGGER_LASTS)
    return name


def open_view(call: Call) -> Json:
    user = _spend(call)
    if call.state.modals.get(user):
        raise Refused("push_limit_reached")
    return _put(call, user, "")


def push(call: Call) -> Json:
    user = _spend(call)
    stack = call.state.modals.get(user)
    if not stack or len(stack) >= MOST:
        raise Refused("push_limit_reached" if stack else "not_found")
    return _put(call, user, stack[-1].id)


def update(call: Call) -> Json:
    wanted = call.get("external_id")
    stacks = [view for stack in call.state.modals.values() for view in stack]
    view = next((one for one in stacks if wanted and one.payload.get("external_id") == wanted), None)
    view = view or call.state.view(str(call.get("view_id", "")))
    if view is None or view.installation is not call.by:
        raise Refused("not_found")
    call.obey(limits.first(limits.VIEW, call.arguments))
    if call.get("hash") not in (None, view.hash):
        raise Refused("hash_conflict")
    replace(call.state, view, call.arguments["view"])
    return {"view": view.payload}


def publish(call: Call) -> Json:
    user = call["user_id"]
    if user not in call.state.users:
        raise Refused("user_not_found")
    call.obey(limits.first(limits.VIEW, call.arguments))
    if call.arguments["view"]["type"] != "home":
        raise Refused("invalid_arguments")
    call.state.homes[user] = made(call.state, call.by, user, call.arguments["view"], "")
    call.state.changed()
    return {"view": call.state.homes[user].payload}


def made(state: State, by: Installation, user: str, payload: Json, previous: str) -> View:
    view = View(state.name("V"), user, by, {}, "", "", previous)
    before = state.view(previous) if previous else None
    view.root = before.root if before else view.id
    replace(state, view, payload)
    return view


def replace(state: State, view: View, payload: Json) -> None:
    """What the app sent, with what Slack adds to it."""
    view.hash = f"{int(state.clock.now())}.{state.number()}"
    view.payload = {
        "callback_id": "",
        "private_metadata": "",
        **payload,
        "blocks": with_ids(state, payload["blocks"]),
        "id": view.id,
        "team_id": view.installation.team,
        "app_installed_team_id": view.installation.team,
        "bot_id": view.installation.bot_id,
        "root_view_id": view.root,
        "previous_view_id": view.previous or None,
        "hash": view.hash,
        "state": {"values": {}},
    }
    state.changed()


def _put(call: Call, user: str, previous: str) -> Json:
    view = made(call.state, call.by, user, call.arguments["view"], previous)
    call.state.modals.setdefault(user, []).append(view)
    call.state.changed()
    return {"view": view.payload}


def _spend(call: Call) -> str:
    """Who the trigger belongs to. A view that is refused does not spend it."""
    one = call.state.triggers.get(call["trigger_id"])
    if one is None:
        raise Refused("invalid_trigger_id")
    if one.spent:
        raise Refused("exchanged_trigger_id")
    if call.state.clock.now() > one.until:
        raise Refused("expired_trigger_id")
    call.obey(limits.first(limits.VIEW, call.arguments))
    one.spent = True
    return one.user


METHODS: Mapping[str, Method] = {
    "views.open": Method(open_view),
    "views.push": Method(push),
    "views.update": Method(update),
    "views.publish": Method(publish),
}
