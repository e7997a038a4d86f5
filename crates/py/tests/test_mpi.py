"""Campaigns over mpi4py."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import airbraid as ab
import polars as pl
from polars.testing import assert_frame_equal

# The MPI of this environment, or else the machine's.
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def test_a_campaign_over_mpi(short: ab.Scenario, root: Path, tmp_path: Path) -> None:
    """One process coordinates, two work."""
    assert MPIEXEC is not None, "there is no mpiexec: scripts/python.sh environment installs one"
    script = tmp_path / "campaign.py"
    script.write_text(
        textwrap.dedent(f"""
        import airbraid as ab
        from mpi4py.futures import MPIPoolExecutor

        if __name__ == "__main__":
            base = ab.Scenario.load({str(root / "scenarios/examples/three_channels.toml")!r}).with_(
                {{"run.duration": "1 s", "run.warm_up": "0 s", "trunk.air.members": ["ch1", "ch5", "ch9"]}}
            )
            with MPIPoolExecutor() as executor:
                executor.bootup()
                assert executor.num_workers == 2, executor.num_workers
                runs = ab.Campaign(base, seeds=range(20)).run(executor, store={str(tmp_path / "store")!r})
            runs.frame().write_parquet({str(tmp_path / "frame.parquet")!r})
        """)
    )
    # Open MPI wants to be told that it may be run by the superuser and on fewer cores than processes; others do not look.
    may = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    may["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    command = [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)]
    done = subprocess.run(command, env=os.environ | may, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert_frame_equal(pl.read_parquet(tmp_path / "frame.parquet"), ab.Campaign(short, seeds=range(20)).run(workers=2).frame())
