"""contrib/make-venv: it installs only files with listed hashes, into folders that no other user can change."""

import os
import re
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

from processes import folder_of

CONTRIB = Path(__file__).resolve().parents[3] / "contrib"
PINS = sorted((CONTRIB / "venvs").rglob("*.txt"))
UNSAFE = 3  # the exit code for a folder that another user can change


class Pins(unittest.TestCase):
    def test_each_version_has_hashes(self):
        self.assertTrue(PINS)
        for path in PINS:
            for line in path.read_text(encoding="utf-8").replace("\\\n", "").splitlines():
                with self.subTest(file=path.name, line=line[:60]):
                    self.assertRegex(line, r"^([\w-]+==[\w.]+( +--hash=sha256:[0-9a-f]{64})+|-r shared/\w+\.txt)$")


class Environments(unittest.TestCase):
    """Without a package index: pip finds only the files that a test puts into the folder."""

    def setUp(self):
        self.above = folder_of(self)
        self.folder = self.above / "venvs"
        self.wheels = self.above / "wheels"
        self.wheels.mkdir()

    def make(self, name="mpich"):
        env = dict(os.environ, HAWSER_CLIENT_VENVS=str(self.folder), PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.wheels))
        return subprocess.run([CONTRIB / "make-venv", name], env=env, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def put_finished(self, name="mpich"):
        venv = self.folder / name
        venv.mkdir(parents=True)
        shutil.copy(CONTRIB / f"venvs/{name}.txt", venv / "built-from.txt")
        return venv

    def check_refused(self, why):
        done = self.make()
        self.assertEqual(done.returncode, UNSAFE, done.stdout)
        self.assertIn(why, done.stdout)
        self.assertNotIn("up to date", done.stdout)

    def test_a_finished_one_is_used(self):
        self.put_finished()
        done = self.make()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("is up to date", done.stdout)

    def test_a_folder_that_others_may_write_is_refused(self):
        self.put_finished()
        for mode in (0o775, 0o757, 0o1777):
            with self.subTest(mode=oct(mode)):
                self.folder.chmod(mode)
                self.check_refused(f"{self.folder} is writable by others")

    def test_a_folder_that_others_may_replace_is_refused(self):
        self.put_finished()
        self.above.chmod(0o777)
        self.check_refused(f"{self.above} is writable by others")
        self.above.chmod(0o1777)
        self.assertEqual(self.make().returncode, 0)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a folder away")
    def test_a_folder_of_another_user_is_refused(self):
        self.put_finished()
        os.chown(self.folder, 65534, 65534)
        self.check_refused(f"{self.folder} does not belong to this user")
        os.chown(self.folder, 0, 0)
        os.chown(self.above, 65534, 65534)
        self.check_refused(f"{self.above} belongs to user 65534")

    def test_one_that_others_may_have_changed_is_made_again(self):
        venv = self.put_finished()
        venv.chmod(0o775)
        (venv / "changed").touch()
        done = self.make()
        self.assertNotIn("up to date", done.stdout)
        self.assertFalse((venv / "changed").exists())

    def test_a_file_with_another_hash_is_not_installed(self):
        version = re.search(r"^mpich==([\w.]+)", (CONTRIB / "venvs/mpich.txt").read_text(encoding="utf-8")).group(1)
        info = f"mpich-{version}.dist-info"
        with zipfile.ZipFile(self.wheels / f"mpich-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("false_mpich.py", "")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: mpich\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
        done = self.make()
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("HASHES", done.stdout)
        self.assertFalse((self.folder / "mpich/built-from.txt").exists())
        self.assertEqual(list(self.folder.rglob("false_mpich.py")), [])
