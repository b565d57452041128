"""Functions that the comparing scripts share: running both sides in turn, texts of tables, and the JSON file.

The file has machine, date, command, and one row on each line. contrib/plot-performance reads it. A row has the samples
of each side in the order of the repeats. "p50" of a sample is the run's median.
"""
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/support"))
from processes import free_port, wait_for_listener  # noqa: E402

# Root may run Open MPI in these scripts.
MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def open_mpi():
    return shutil.which("mpirun.openmpi") or "mpirun"


def call(line, env, limit, cpu=None):
    """Runs a command, on one processor if given; returns its standard output and error output."""
    pin = None if cpu is None else (lambda: os.sched_setaffinity(0, {cpu}))
    result = subprocess.run([str(word) for word in line], env=env, capture_output=True, text=True, check=False,
                            timeout=limit, preexec_fn=pin)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, line))} ended with {result.returncode}: "
                           + (result.stderr or result.stdout)[-800:])
    return result.stdout, result.stderr


def progress(text=""):
    """Replaces the line at the terminal."""
    print("\r" + " " * 79 + "\r" + text, end="", file=sys.stderr, flush=True)


def two_cores():
    """Two cores that this process may use; two threads of one core only if there is no other choice."""
    cpus = sorted(os.sched_getaffinity(0))
    first = cpus[0]
    try:
        path = f"/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list"
        siblings = {int(n) for part in Path(path).read_text().strip().split(",")
                    for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
    except OSError:
        siblings = {first}
    others = [cpu for cpu in cpus if cpu not in siblings] or cpus[1:] or [first]
    return first, others[0]


def run_perftest(program, arguments, env, limit):
    """Runs a server of ucx_perftest and a client with these arguments, each on a core; returns the client's output."""
    cores, port = two_cores(), free_port()
    with subprocess.Popen([str(program), "-p", str(port)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]})) as server:
        try:
            wait_for_listener(port, server)
            output, _ = call([program, "127.0.0.1", "-p", port, *arguments], env, limit, cores[1])
            server.wait(30)
        finally:
            server.kill()
    return output


def text_size(n):
    return f"{n >> 20} MB" if n >= 1 << 20 else f"{n >> 10} KB" if n >= 1 << 10 else f"{n} B"


def number(value):
    return "" if value is None else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread_text(ratios, none=""):
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else none


def chosen(parser, names, known, kind):
    """Splits a list of names with commas. A name that is not known ends the script."""
    all_names = names.split(",")
    for name in all_names:
        if name not in known:
            parser.error(f"no {kind} \"{name}\"; there are: {', '.join(known)}")
    return all_names


def print_problems(problems):
    for problem in problems:
        print(f"\nnot measured: {problem}")


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
