"""[stale]: what is said when words that an answer quoted have changed, and when it is not."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES
from deploy.settings.site import SettingsTable

_HOURS = re.compile(r"(\d{1,2})-(\d{1,2})")


def _hours(value: str) -> str:
    match = _HOURS.fullmatch(value)
    if value and not (match and int(match[1]) < 24 and int(match[2]) < 24):
        raise PydanticCustomError(TAKES, "two hours of the day, such as 19-8, or nothing")
    return value


def _zone(value: str) -> str:
    try:
        return ZoneInfo(value).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PydanticCustomError(TAKES, "the name of a time zone, such as Europe/Berlin") from None


class StaleSettings(SettingsTable):
    notes: bool = Field(
        default=True,
        description="Whether a note in the answer's thread says so, unless a channel's own settings say otherwise.",
    )
    wait_minutes: int = Field(
        default=15, ge=0, le=1440, description="Minutes from the first change to the note: later ones join it."
    )
    quiet_hours: Annotated[str, AfterValidator(_hours), "two hours of the day, such as 19-8"] = Field(
        default="", description="Hours in which no note is posted, such as 19-8: it comes when they are over."
    )
    time_zone: Annotated[str, AfterValidator(_zone), "the name of a time zone"] = Field(
        default="UTC", description="The time zone of quiet_hours and gaps.digest, such as Europe/Berlin."
    )
    per_day: int = Field(
        default=10, ge=0, description="Notes in a channel in a day (UTC), the others wait for the next; 0: any number."
    )

    @property
    def wait(self) -> timedelta:
        return timedelta(minutes=self.wait_minutes)

    @property
    def quiet(self) -> tuple[int, int]:
        match = _HOURS.fullmatch(self.quiet_hours)
        return (int(match[1]), int(match[2])) if match else (0, 0)
