"""What ritbot's buttons and modals are called in Slack's payloads, and what their values hold. Pure."""

from __future__ import annotations

import json
from typing import Any

from bot.gaps.gap import GapState
from bot.gaps.report import STATES
from bot.model import Verdict

FEEDBACK = "ritbot_feedback"
SHOW_TRACE = "ritbot_show_way"
ASK_PERSON = "ritbot_ask_person"
RETRY = "ritbot_retry"
SHARE = "ritbot_share"
ASK_AGAIN = "ritbot_ask_again"
SHOW_DETAILS = "ritbot_details"
HOME_SETTINGS = "ritbot_home_settings"
CITE = "ritbot_cite"
GAP = "ritbot_gap_"
"""action_id of a button; messages in the field carry them, so they stay as they are. The value of each is the question's id,
of FEEDBACK a `feedback_value`, of SHOW_DETAILS MORE or LESS before it, of HOME_SETTINGS a channel, of CITE a `citation_value`; behind GAP stands a state, the value is the gap."""
MORE, LESS = "more", "less"

TRACE_VIEW = "ritbot_way"
REASON_VIEW = "ritbot_reason"
SETTINGS_VIEW = "ritbot_settings"
ESCALATION_VIEW = "ritbot_escalation"
"""callback_id of a modal. private_metadata is the question's id, of REASON_VIEW a `feedback_value`, of
SETTINGS_VIEW team and channel, of ESCALATION_VIEW an `escalation_value`."""

REASON_BLOCK = "reason"
REASON_INPUT = "text"
"""Where a submitted REASON_VIEW or ESCALATION_VIEW holds its words: state.values[REASON_BLOCK][REASON_INPUT]["value"]."""
REASON_CHOICE = "kind"
"""Where a submitted REASON_VIEW holds what was chosen: state.values[REASON_CHOICE][REASON_CHOICE]."""


def feedback_value(verdict: Verdict, question_id: str) -> str:
    return f"{verdict}:{question_id}"


def feedback_of(value: str) -> tuple[Verdict, str]:
    """Verdict and question id. Raises ValueError for anything else than a `feedback_value`."""
    verdict, _, question_id = value.partition(":")
    if verdict == "good" and question_id:
        return "good", question_id
    if verdict == "bad" and question_id:
        return "bad", question_id
    raise ValueError(f"not a feedback value: {value!r}")


def gap_state(action_id: str) -> GapState:
    """Of GAP and a state. Raises ValueError for anything else."""
    return STATES[STATES.index(action_id.removeprefix(GAP))]


def citation_value(node: str, thread: str) -> str:
    """The section to post, and the thread to post it in, "" for none."""
    return f"{node}:{thread}"


def citation_of(value: str) -> tuple[str, str]:
    node, _, thread = value.partition(":")
    return node, thread


def escalation_value(question_id: str, press: dict[str, Any]) -> str:
    """The question, and where its button was pressed: whoever sends the modal is told there what could not be done."""
    container = press.get("container") or {}
    channel = (press.get("channel") or {}).get("id") or container.get("channel_id")
    where = {"channel": channel, "thread_ts": container.get("thread_ts"), "response_url": press.get("response_url")}
    return json.dumps({"question": question_id, **where})


def escalation_of(view_submission: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The question's id, and the payload as of a press on the button that opened the modal."""
    value = json.loads(view_submission["view"]["private_metadata"])
    where = {"container": {"thread_ts": value["thread_ts"]}, "response_url": value["response_url"]}
    return value["question"], {**view_submission, "channel": {"id": value["channel"]}, **where}
