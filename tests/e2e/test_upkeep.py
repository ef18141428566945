"""An operator's commands as typed: the search index is lost and found, the data folder is lost and restored."""

import gzip
import shutil
import stat
from pathlib import Path

from tests.e2e.commands import PUMPKIN, ritbot


def test_a_lost_search_index_is_found_and_made_again(pumpkin: Path) -> None:
    shutil.rmtree(pumpkin / "data/chunks")
    looked = ritbot(pumpkin, "reconcile")
    assert looked.returncode == 1
    assert "Not in step: 6 chunks missing, 0 orphans. Run: ritbot reconcile --repair" in looked.stdout
    mended = ritbot(pumpkin, "reconcile", "--repair", fresh=True)
    assert mended.returncode == 0
    assert "Repaired: 6 chunks written (6 embedded), 0 removed." in mended.stdout
    mistyped = ritbot(pumpkin, "reconcile", "pumpkins")
    assert mistyped.returncode == 2
    assert "there is no site called pumpkins; did you mean pumpkin?" in mistyped.stderr


def test_a_backup_brings_lost_pages_back(pumpkin: Path) -> None:
    done = ritbot(pumpkin, "backup", "truth.gz", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "Backup of 1 site, 3 pages, 4 watch states: truth.gz" in done.stderr
    assert stat.S_IMODE((pumpkin / "truth.gz").stat().st_mode) == 0o600
    assert not [path for path in pumpkin.iterdir() if path.suffix == ".part"]
    refused = ritbot(pumpkin, "backup", "truth.gz")
    assert refused.returncode == 2
    assert "truth.gz is there already" in refused.stderr
    shutil.move(pumpkin / "data", pumpkin / "lost")
    back = ritbot(pumpkin, "restore", "truth.gz", fresh=True)
    assert back.returncode == 0, back.stdout + back.stderr
    assert "Put back: 1 site, 3 pages, 4 watch states." in back.stdout
    assert "Repaired: 6 chunks written (6 embedded), 0 removed." in back.stdout
    assert ritbot(pumpkin, "backup", "again.gz").returncode == 0
    assert records(pumpkin / "again.gz") == records(pumpkin / "truth.gz")


def records(file: Path) -> list[str]:
    return [
        line
        for line in gzip.decompress(file.read_bytes()).decode().removesuffix("\n").split("\n")
        if line.startswith('{"records"')
    ]


def test_a_restore_spares_pages_that_are_there_unless_told_otherwise(pumpkin: Path) -> None:
    assert ritbot(pumpkin, "backup", "old.gz").returncode == 0
    (pumpkin / "html/keys.html").write_text(PUMPKIN["keys"].replace("once a year", "twice a year"), encoding="utf-8")
    assert ritbot(pumpkin, "index").returncode == 0
    refused = ritbot(pumpkin, "restore", "old.gz")
    assert refused.returncode == 2
    assert "There is already pumpkin: 3 pages not of this backup." in refused.stdout


def test_a_restore_by_force_leaves_what_the_backup_holds(pumpkin: Path) -> None:
    forced = ritbot(pumpkin, "restore", "old.gz", "--force")
    assert forced.returncode == 0, forced.stdout
    assert "There is already pumpkin: 3 pages" in forced.stdout
    assert "Repaired: 1 chunk written (1 embedded), 1 removed." in forced.stdout


def test_a_damaged_backup_is_a_plain_sentence(pumpkin: Path) -> None:
    (pumpkin / "half.gz").write_bytes(gzip.compress(b'{"ritbot_backup": 1}')[:-5])
    damaged = ritbot(pumpkin, "restore", "half.gz", "--folder", "new")
    assert not (pumpkin / "new").exists()
    assert damaged.returncode == 3
    assert "no whole backup of ritbot" in damaged.stderr
    assert "Traceback" not in damaged.stderr
