"""contrib/check-docs: it finds the problems that it searches for, and none in a correct page."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from processes import load_script

SCRIPT = Path(__file__).resolve().parents[3] / "contrib/check-docs"


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_script(SCRIPT)

    def problems(self, text):
        """Line numbers and problems for a page with this text."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            return list(self.module.breaks_of(page))

    def test_each_kind_of_mistake(self):
        for line, said in (
                ("[a page](nowhere.md)", "nowhere.md: there is no such file"),
                ("[a heading](page.md#nowhere)", "page.md#nowhere: the page has no such heading"),
                ("`ucp/core/nowhere.cpp`", "ucp/core/nowhere.cpp: there is no such file"),
                ("`ucp_fly_nbx()`", "ucp_fly_nbx: no source has this name"),
                ("the function `fly_away()`", "fly_away: no source has this name"),
                ("`UCX_QUUX_LEVEL=3`", "UCX_QUUX_LEVEL: no source has this option"),
                ("    ucx_perftest -l --sideways", "ucx_perftest has no option --sideways"),
                ("    contrib/run-tests --sideways", "contrib/run-tests has no option --sideways")):
            with self.subTest(line=line):
                self.assertEqual(self.problems(f"# Title\n\n{line}\n"), [(3, said)])

    def test_default_of_a_table(self):
        rows = "# Title\n\n| option | default | effect |\n| --- | --- | --- |\n| `UCX_KEEPALIVE_INTERVAL` | {} | |\n"
        self.assertEqual(self.problems(rows.format("20s")), [])
        self.assertEqual(self.problems(rows.format("30s")), [(5, "UCX_KEEPALIVE_INTERVAL: the default is 20s")])

    def test_a_page_that_is_right(self):
        self.assertEqual(self.problems("""# Some title

[here](#some-title), [web](https://example.org/x)
`ucp/wakeup`, `ucp/cm/wire.*`, `ucp_tag_send_nbx`, `UCX_TLS=tcp`, `UCX_RNDV_…`, `ucp/context/NAME/`

    $ UCX_TLS=tcp ucx_perftest HOST -t tag_lat --json | head -3
    contrib/run-tests --quick
"""), [])

    def test_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            for text, status in (("[x](nowhere.md)\n", 1), ("words\n", 0)):
                page.write_text(text, encoding="utf-8")
                done = subprocess.run([sys.executable, str(SCRIPT), str(page)], capture_output=True, text=True,
                                      timeout=120, check=False)
                self.assertEqual(done.returncode, status, done)
