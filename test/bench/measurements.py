"""The JSON file of a measurement: machine, date, command, and one row on each line. contrib/plot-performance reads it.

A row has the samples of each side in the order of the repeats. "p50" of a sample is the run's median.
"""
import json
import os
import platform
import shlex
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def machine():
    """The processor's name, whether it is virtual, and how many processors this process may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    virtual = ", virtual machine" if "hypervisor" in fields.get("flags", "").split() else ""
    return f"{fields.get('model name', platform.machine())}{virtual}, {len(os.sched_getaffinity(0))} processors"


def command():
    return shlex.join([str(Path(sys.argv[0]).resolve()), *sys.argv[1:]])


def write(path, rows, problems):
    """Writes the rows under the conditions of this process. Paths in the repository are relative to it."""
    head = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "command": command(), "problems": problems}
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    text = f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "rows": [\n{lines}\n ]\n}}\n'
    Path(path).write_text(text.replace(f"{ROOT}/", ""), encoding="utf-8")
