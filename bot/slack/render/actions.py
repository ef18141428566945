"""What ritbot's buttons and modals are called in Slack's payloads, and what their values hold. Pure."""

from __future__ import annotations

from bot.model import Verdict

FEEDBACK = "ritbot_feedback"
SHOW_TRACE = "ritbot_show_way"
ASK_PERSON = "ritbot_ask_person"
RETRY = "ritbot_retry"
SHARE = "ritbot_share"
"""action_id of a button; messages in the field carry them, so they stay as they are. The value of each is the question's id, of FEEDBACK a `feedback_value`."""

TRACE_VIEW = "ritbot_way"
REASON_VIEW = "ritbot_reason"
SETTINGS_VIEW = "ritbot_settings"
"""callback_id of a modal. private_metadata is the question's id, of REASON_VIEW a `feedback_value`, of
SETTINGS_VIEW team and channel."""

REASON_BLOCK = "reason"
REASON_INPUT = "text"
"""Where a submitted REASON_VIEW holds its words: state.values[REASON_BLOCK][REASON_INPUT]["value"]."""


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
