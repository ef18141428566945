"""assistant.threads.* and agents.sessions.*: the status line, suggested prompts, titles, the native Stop button.

Source: docs.slack.dev, their reference pages. A session that is "processing" shows Stop; pressing it sends
agent_session_stopped, and the status stays until the app sets another.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.slack import limits
from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.state import Channel, Json, Prompts, Status


def set_status(call: Call) -> Json:
    """An empty status takes it away."""
    call.needs("chat:write", "assistant:write")
    channel, root = _thread(call)
    call.obey(limits.many_loading_messages(call.arguments))
    if text := str(call.get("status", "")):
        loading = [str(one) for one in call.get("loading_messages", [])]
        call.state.statuses[channel.id, root] = Status(text, loading, call.state.clock.now(), call.by.bot_user)
    else:
        call.state.clear_status(channel.id, root)
    call.state.changed()
    return {}


def set_suggested_prompts(call: Call) -> Json:
    """For a thread, or without one for the whole direct channel."""
    channel = call.writable("channel_id")
    if channel.kind != "direct":
        raise Refused("channel_type_not_supported")
    call.obey(limits.malformed_prompts(call.arguments))
    root = _thread(call)[1] if call.get("thread_ts") else ""
    call.state.prompts[channel.id, root] = Prompts(str(call.get("title", "")), list(call.arguments["prompts"]))
    call.state.changed()
    return {}


def set_title(call: Call) -> Json:
    channel, root = _thread(call)
    call.state.titles[channel.id, root] = call["title"]
    call.state.changed()
    return {}


def set_session_status(call: Call) -> Json:
    channel, root = _thread(call)
    call.obey(limits.unknown_session_status(call.arguments))
    call.state.sessions[channel.id, root] = call["status"]
    if title := call.get("title"):
        call.state.titles.setdefault((channel.id, root), str(title))
    call.state.changed()
    answer: Json = {"status": call["status"], "agent_status": call["status"]}
    answer["title"] = call.state.titles.get((channel.id, root), "")
    if call["status"] == "processing" and "agent_session_stopped" not in call.events.subscriptions:
        answer["warning"] = "missing_agent_session_stopped_event_subscription"
    return answer


def _thread(call: Call) -> tuple[Channel, str]:
    channel = call.writable("channel_id")
    message = call.state.messages.get((channel.id, call["thread_ts"]))
    if message is None:
        raise Refused("invalid_thread_ts")
    return channel, message.root


METHODS: Mapping[str, Method] = {
    "assistant.threads.setStatus": Method(set_status),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, ("assistant:write",)),
    "assistant.threads.setTitle": Method(set_title, ("assistant:write",)),
    "agents.sessions.setStatus": Method(set_session_status, ("chat:write",)),
}
