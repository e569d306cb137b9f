"""The sandbox that every suite runs against: one `skyl sandbox`, started once, asked over HTTP.

The suites import the vendors' packages as they are published. Nothing of an SDK is patched or
mocked, so a call takes the way it takes in anyone's program: real sockets, the SDK's own retries
and its own clock. What reached the sandbox is read back from its journal.
"""

import itertools
import json
import os
import re
import select
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A key, a base URL or a log setting of the person at the machine must reach no suite, and no call
# to the sandbox may take the way through a proxy.
for name in list(os.environ):
    vendors = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "TYPESAFE_", "SKYL_")
    if name.startswith(vendors) and name != "SKYL_BIN":
        del os.environ[name]
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"


@dataclass(frozen=True)
class Entry:
    """One request as the journal has it; an unknown or a missing field fails the suite."""

    seq: int
    time_ms: int
    connection: int
    method: str
    path: str
    mount: str
    model: str | None
    step: int | None
    status: int | None
    body_sha256: str
    body_bytes: int
    headers: list[list[str]]

    def header(self, name: str) -> str | None:
        """The first value of a header, if there is one."""
        return next((value for line, value in self.headers if line == name), None)


class Sandbox:
    """A running sandbox: where it listens and what it has seen."""

    key = "sandbox-key"

    def __init__(self, url: str) -> None:
        self.url = url
        self._ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def journal(self) -> list[Entry]:
        """Every request since the journal was last cleared, oldest first."""
        return [Entry(**entry) for entry in self._control("GET", "journal")]

    def clear_journal(self) -> None:
        self._control("DELETE", "journal")

    def _control(self, method: str, what: str) -> object:
        request = urllib.request.Request(f"{self.url}/_sandbox/{what}", method=method)
        with self._ask.open(request, timeout=10) as response:
            return json.load(response)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The program under `SKYL_BIN`, else the debug build, on a port the system picks."""
    program = Path(os.environ.get("SKYL_BIN", ROOT / "target/debug/skyl"))
    if not program.is_file():
        pytest.exit(f"there is no {program}; `cargo build` makes it", returncode=2)
    with tempfile.TemporaryFile("w+") as diagnostics:
        server = subprocess.Popen(
            [program, "sandbox", "--addr", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=diagnostics,
            text=True,
        )
        try:
            listening, _, _ = select.select([server.stdout], [], [], START_LIMIT_S)
            url = server.stdout.readline().strip() if listening else ""
            if not url.startswith("http://127.0.0.1:"):
                diagnostics.seek(0)
                pytest.exit(
                    f"{program} sandbox said {url!r} instead of its base URL\n{diagnostics.read()}",
                    returncode=2,
                )
            yield Sandbox(url)
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            server.stdout.close()


@pytest.fixture
def journal(sandbox: Sandbox) -> Callable[[], list[Entry]]:
    """Reads the journal of this test alone."""
    sandbox.clear_journal()
    return sandbox.journal


@pytest.fixture
def do(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Makes the model name that runs a fault script from its first step.

    Each name carries a tag that no other has, so that tests run in any order, and again.
    """

    def model(script: str) -> str:
        test = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.name)[:50]
        return f"sandbox-do-{script}@{test}.{next(RUNS)}"

    return model


RUNS = itertools.count(1)

# Generous: a debug build on a busy machine starts in well under a second.
START_LIMIT_S = 30
