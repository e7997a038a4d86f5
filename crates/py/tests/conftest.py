"""What the tests share: the repository, the command, scenarios that take milliseconds."""

import os
import subprocess
from pathlib import Path

import airbraid as ab
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def command() -> Path:
    """The command that was built of the same sources."""
    path = Path(os.environ.get("AIRBRAID", ROOT / "target/release/airbraid"))
    if not path.is_file():
        pytest.fail(f"{path} is not there: make build, or name it with AIRBRAID")
    return path


@pytest.fixture(scope="session")
def airbraid(command: Path) -> "Command":
    return Command(command)


class Command:
    """The command, from the root of the repository."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.path, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def trunk() -> ab.Scenario:
    """Three channels as one trunk, for one second: some milliseconds a run, two cells."""
    return ab.Scenario.load(ROOT / "scenarios/examples/three_channels.toml").with_(
        {"run.duration": "1 s", "run.warm_up": "0 s"}
    )


@pytest.fixture(scope="session")
def short(trunk: ab.Scenario) -> ab.Scenario:
    """The same with one cell."""
    return trunk.with_({"trunk.air.members": ["ch1", "ch5", "ch9"]})
