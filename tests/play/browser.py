"""A real browser for tests: Debian's Chromium, driven by Playwright, without a network beyond this machine."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright


def chromium_path() -> str | None:
    """Where a Chromium is; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Raises FileNotFoundError where there is none."""
    path = chromium_path()
    if path is None:
        raise FileNotFoundError("There is no Chromium here: install the package `chromium`.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()
