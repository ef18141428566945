"""A model at temperature 0 where its endpoint takes one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import structlog

from navigator.errors import ModelRejected
from navigator.ports import Model, ModelEvent, Tool, Turn

log = structlog.get_logger()


class TemperatureZeroModel:
    """Implements navigator.ports.Model with two of the same model: `cold` asks for temperature 0, `plain` for none. Newer
    models reject any temperature: once `plain` was taken where `cold` was not, it alone is asked."""

    def __init__(self, cold: Model, plain: Model) -> None:
        self._cold = cold
        self._plain = plain
        self._refuses = False

    @property
    def name(self) -> str:
        return self._plain.name

    @property
    def cites(self) -> bool:
        return self._plain.cites

    @property
    def context_window(self) -> int:
        return self._plain.context_window

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        began = False
        if not self._refuses:
            try:
                async for event in self._cold.turn(system, turns, tools, must_answer=must_answer):
                    began = True
                    yield event
                return
            except ModelRejected:
                if began:
                    raise
        async for event in self._plain.turn(system, turns, tools, must_answer=must_answer):
            if not self._refuses:
                log.info("temperature_refused", model=self.name)
                self._refuses = True
            yield event
