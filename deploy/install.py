"""Makes .venv ready: the exact versions of requirements.lock, then ritbot itself. `make` runs it.

    python -m deploy.install [--without-pytorch]       all but what pytorch.txt names: the default model needs none of it

Standard library only. It can be stopped at any moment: what was at work in .venv when it was killed is
not trusted, and the next run starts over. Of two at once the second waits for the first.
"""
# ruff: noqa: T201 (it talks to a person)

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
READY = VENV / ".ready"
LIGHT = VENV / ".ready-without-pytorch"
LOCK = ROOT / "deploy" / "requirements.lock"
PYTORCH = ROOT / "deploy" / "pytorch.txt"
CACHE = ROOT / ".cache"
LOG = CACHE / "install.log"
TEMP = CACHE / "tmp"
"""Downloads are unpacked here (`make` sets TMPDIR): /tmp may be small, and what a killed pip left is removed."""
AT_WORK = CACHE / "installing"
"""There while something writes to .venv; found at the start, it tells of a run that was killed."""

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
GIGABYTE = 1_000_000_000
FULL = "No space left on device"
NO_NETWORK = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "name resolution",
    "from versions: none",
)


class Failed(Exception):
    """The set-up cannot go on; the message says why and what to do."""


def main(pytorch: bool) -> int:
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "install.lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)  # a pip that outlives this process still holds the lock
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up is at work here: waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if up_to_date(READY) or (not pytorch and up_to_date(LIGHT)):
            LIGHT.touch()
            return 0
        try:
            install(pytorch)
        except Failed as error:
            print(f"\nThe set-up failed. {error}\nEverything that happened: {LOG}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nStopped. The next `make` starts the set-up over.", file=sys.stderr)
            return 130
    return 0


def up_to_date(mark: Path) -> bool:
    sources = (LOCK, PYTORCH, ROOT / "pyproject.toml", Path(__file__))
    return mark.exists() and all(mark.stat().st_mtime >= source.stat().st_mtime for source in sources)


def install(pytorch: bool) -> None:
    """Raises Failed."""
    LOG.write_text("")
    shutil.rmtree(TEMP, ignore_errors=True)
    TEMP.mkdir()
    READY.unlink(missing_ok=True)
    LIGHT.unlink(missing_ok=True)
    if VENV.exists() and (AT_WORK.exists() or not usable()):
        print("The .venv here is not whole (a set-up was stopped, or its Python went away): starting over.", flush=True)
        AT_WORK.touch()
        shutil.rmtree(VENV)
    if not VENV.exists():
        step("Creating .venv (some seconds)", [sys.executable, "-m", "venv", str(VENV)])
    if not pytorch:
        need_space(2)
        wanted = TEMP / "without-pytorch.txt"
        wanted.write_text("".join(f"{line}\n" for line in without_pytorch()))
        what = "Installing the packages of deploy/requirements.lock but PyTorch (a minute)"
        step(what, [*pip("install"), "--no-deps", "-r", str(wanted)])
        install_ritbot()
        shutil.rmtree(TEMP)
        LIGHT.touch()
        return
    if has_torch() or (platform.system() == "Linux" and torch_for_cpu()):
        what = "Installing the packages of deploy/requirements.lock (a minute or two)"
    else:
        need_space(10)
        what = "Installing the packages of deploy/requirements.lock, PyTorch from PyPI (about 6 GB, several minutes)"
    step(what, [*pip("install"), "-r", str(LOCK)])
    install_ritbot()
    step("Checking that all versions fit (some seconds)", pip("check"))
    shutil.rmtree(TEMP)
    READY.touch()
    LIGHT.touch()


def install_ritbot() -> None:
    """Raises Failed."""
    step("Installing ritbot (some seconds)", [*pip("install"), "--no-deps", "--no-build-isolation", "-e", str(ROOT)])


def usable() -> bool:
    """Whether .venv has a Python that starts, is new enough and has pip."""
    try:
        code = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
        return subprocess.run([PYTHON, "-c", code], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def without_pytorch() -> list[str]:
    """The lines of the lock that pytorch.txt does not name."""
    names = {line.strip() for line in PYTORCH.read_text().splitlines() if not line.startswith("#")}
    pins = (line.strip() for line in LOCK.read_text().splitlines() if not line.startswith("#"))
    return [pin for pin in pins if pin.partition("==")[0].lower().replace("_", "-") not in names]


def locked_torch() -> str:
    """torch==1.2.3, as the lock has it."""
    return next(line.strip() for line in LOCK.read_text().splitlines() if line.startswith("torch=="))


def has_torch() -> bool:
    """Whether .venv has the locked version, in whichever build."""
    wanted = locked_torch().replace("torch==", "torch-")
    found = (path.name.removesuffix(".dist-info") for path in VENV.glob("lib/python*/site-packages/torch-*.dist-info"))
    return any(name.partition("+")[0] == wanted for name in found)


def torch_for_cpu() -> bool:
    """Install the build without CUDA, if PyTorch's own index can be reached and has it."""
    if not reachable(f"{CPU_INDEX}/torch/"):
        print("PyTorch's index of CPU builds cannot be reached: PyPI's build will do.", flush=True)
        return False
    need_space(2)
    try:
        what = "Installing PyTorch for CPUs (about 200 MB, a minute)"
        step(what, [*pip("install"), "--no-deps", "--index-url", CPU_INDEX, locked_torch()])
    except Failed:
        print("PyTorch's index has no CPU build for this machine: PyPI's build will do.", flush=True)
        return False
    return True


def reachable(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (OSError, ValueError):
        return False


def need_space(gigabytes: int) -> None:
    free = shutil.disk_usage(ROOT).free
    if free < gigabytes * GIGABYTE:
        raise Failed(
            f"The disk of {ROOT} has {free / GIGABYTE:.1f} GB free, and {gigabytes} GB are needed. Make room and run it again."
        )


def pip(command: str) -> list[str]:
    options = ["--disable-pip-version-check", "--no-input"]
    return [str(PYTHON), "-m", "pip", *options, command, *(["--progress-bar", "off"] if command == "install" else [])]


def step(what: str, command: list[str]) -> None:
    """Run one command, its output in the log; every 30 seconds a sign of life. Raises Failed."""
    print(f"{what} …", flush=True)
    AT_WORK.touch()
    started = time.monotonic()
    with LOG.open("a") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, close_fds=False
        )
    while (code := wait(process)) is None:
        *_, last = ["", *LOG.read_text(errors="replace").split("\n")[:-1]]
        print(f"  {time.monotonic() - started:.0f} s: {last.strip()[:100]}", flush=True)
    text = LOG.read_text(errors="replace")
    if code >= 0 and FULL not in text:
        AT_WORK.unlink()  # it came to an end by itself, and pip then leaves nothing half done
    if code != 0:
        raise Failed(reason(text) if code > 0 else f"It was killed (signal {-code}). Run it again.")


def wait(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code; None if it still runs after 30 seconds."""
    try:
        return process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        return None
    except KeyboardInterrupt:
        process.wait()
        raise


def reason(log: str) -> str:
    """Why pip failed, in plain words where it is one of the usual reasons."""
    last = "The last lines were:\n  " + "\n  ".join(log.strip().split("\n")[-12:])
    if FULL in log:
        return f"The disk of {ROOT} is full. Make room and run it again."
    if "CERTIFICATE_VERIFY_FAILED" in log:
        return "The package index's certificate is not trusted. Behind a company proxy, name its CA file: PIP_CERT=…"
    if any(sign in log for sign in NO_NETWORK):
        return (
            "The package index cannot be reached. Check the network (behind a proxy: HTTPS_PROXY=…) and run it again."
        )
    if "which is not installed" in log or "has requirement" in log:
        return "deploy/requirements.lock does not fit pyproject.toml: its first lines say how to renew it.\n" + last
    return last


if __name__ == "__main__":
    sys.exit(main(pytorch="--without-pytorch" not in sys.argv))
