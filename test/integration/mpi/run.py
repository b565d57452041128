#!/usr/bin/env python3
"""Runs one MPI or OpenSHMEM program on a given libucp under the distribution's Open MPI or MPICH, or under one of the
virtual environments of contrib/make-venv. In the latter case the program is built with the environment's headers and
libraries.

A run passes if mpirun exits with 0 within the limit, the program prints its PASS line, and no process is left. Every
rank of a test program also checks that its calls of UCP reach exactly the given library, in Open MPI through pml/ucx
(see provider.h). The ranks of Debian's packages (NetPIPE, HPCC, mpi4py) do not check that, so the runner reads their
/proc/PID/maps. A run that exceeds its limit fails: the stacks of all ranks are printed (with gdb if installed), then all
are killed. Exit code 77 means skipped, with the reason on a line that starts with SKIP.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
HPCC_INPUT = HERE / "hpccinf.txt"


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def tool(name, package):
    # If MPICH is installed, too, the plain name may belong to it.
    path = shutil.which(f"{name}.openmpi") or shutil.which(name)
    if path is None:
        skip(f"{name} is not installed (package {package})")
    return path


def python_with_mpi4py():
    """Returns the first Python that can load mpi4py. The one in PATH need not be the distribution's."""
    for python in ("/usr/bin/python3", sys.executable):
        if subprocess.run([python, "-c", "import mpi4py.MPI as m; m.Get_version"], check=False,
                          capture_output=True, env={**os.environ, **ROOT_ENV}).returncode == 0:
            return python
    return skip("mpi4py is not installed (package python3-mpi4py)")


def package_command(program, folder):
    """Returns the command of a package of Debian, and a pattern that its output must match."""
    if program == "netpipe":
        # -i: check the data instead of the speed (a failed check ends it with an error); -u: largest message.
        return [tool("NPopenmpi", "netpipe-openmpi"), "-i", "-u", "1000000"], "Integrity check passed"
    if program == "hpcc":
        shutil.copy(HPCC_INPUT, folder / "hpccinf.txt")
        return [tool("hpcc", "hpcc")], None
    return [python_with_mpi4py(), str(HERE / "mpi4py_traffic.py")], r"^PASS mpi4py"


def descendants(pid):
    """Ids of all descendants of a process, from the kernel's lists of children; deepest last."""
    found, todo = [], [pid]
    while todo:
        try:
            tasks = list(Path(f"/proc/{todo.pop()}/task").iterdir())
        except OSError:
            continue
        for task in tasks:
            try:
                children = [int(c) for c in (task / "children").read_text().split()]
            except OSError:
                continue
            found += children
            todo += children
    return found


def mapped_libucp(pid):
    """The libucp files that a process has mapped."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    return {m.group(0) for m in (re.search(r"/\S*libucp\.so\S*", line) for line in lines) if m}


def show_stacks(pids):
    gdb = shutil.which("gdb")
    for pid in pids:
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            where = Path(f"/proc/{pid}/wchan").read_text().strip()
        except OSError:
            continue
        print(f"--- process {pid} ({name}), kernel: {where or '-'}", flush=True)
        if gdb is None:
            continue
        try:
            subprocess.run([gdb, "-p", str(pid), "-batch", "-nx", "-ex", "set pagination off",
                            "-ex", "thread apply all backtrace 25"], timeout=30, check=False,
                           stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            print("gdb did not end in 30 s")


def end_all(process):
    """Kills mpirun and all of its descendants, and returns when none is left."""
    pids = descendants(process.pid)
    for pid in pids + [process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


ROOT_ENV = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}


def library_path(args):
    old = os.environ.get("LD_LIBRARY_PATH")
    return str(args.lib) + (f":{old}" if old else "")


def build(args, folder):
    """Builds the program with the headers and the library of the MPI in the virtual environment; returns its path."""
    library = args.venv / ("lib/libmpi.so.40" if args.mpi == "openmpi5" else "lib/libmpi.so.12")
    if not library.exists():
        skip(f"{library} is not there: contrib/make-venv installs it from the Python package index")
    made = folder / args.program
    line = [shutil.which("cc") or skip("there is no C compiler"), "-std=gnu11", "-O1", "-D_GNU_SOURCE", "-rdynamic",
            f"-I{HERE.parent.parent.parent}", f"-isystem{args.venv / 'include'}", str(HERE / f"{args.program}.c"),
            "-o", str(made), str(library), f"-Wl,-rpath,{library.parent}", "-Wl,--allow-shlib-undefined", "-ldl", "-pthread"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}:\n{done.stderr}")
    return made


def environment(args, libucp):
    env = {**os.environ, **ROOT_ENV, "HAWSER_EXPECT_LIBUCP": str(libucp)}
    if args.no_library_path:
        env.pop("LD_LIBRARY_PATH", None)
    elif args.mpi not in ("mpich", "mpich5"):
        env["LD_LIBRARY_PATH"] = library_path(args)
    if args.tls:
        env["UCX_TLS"] = args.tls
    else:
        env.pop("UCX_TLS", None)
    if args.taken:
        env["UCG_MPI_STATS"] = "y"
    # Open MPI and its helpers have no sanitizer and keep memory until exit, so only this project's code is checked.
    for name, more in (("ASAN_OPTIONS", "detect_leaks=0"),
                       ("TSAN_OPTIONS", "ignore_noninstrumented_modules=1:halt_on_error=1")):
        env[name] = ":".join(text for text in (env.get(name), more) if text)
    return env


def mpirun(args, command):
    # These variables are set for the ranks only. The launcher could not load a library that is built with a sanitizer,
    # because only the test program brings the sanitizer's run time.
    ranks_only = {"LD_PRELOAD": str(args.taken.resolve())} if args.taken else {}
    if args.mpi == "mpich":  # its launcher is linked with libucp, too
        if not args.no_library_path:
            ranks_only["LD_LIBRARY_PATH"] = library_path(args)
        line = [tool("mpiexec.hydra", "mpich"), "-launcher", "fork", "-n", str(args.np)]
        for name, value in ranks_only.items():
            line += ["-genv", name, value]
        return line + command
    if args.mpi == "mpich5":
        ranks_only.update(LD_LIBRARY_PATH=library_path(args), MPIR_CVAR_CH4_NETMOD="ucx")
        line = [str(args.venv / "bin/mpiexec.hydra"), "-launcher", "fork", "-n", str(args.np)]
        for name, value in ranks_only.items():
            line += ["-genv", name, value]
        return line + command
    settings = {"pml": "ucx", "osc": "ucx,sm" if args.program == "win_shared" else "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any",
                "coll": "tuned,libnbc,basic,inter,self",
                # With more threads or ranks than cores, waiting ranks must yield their time slice.
                "mpi_yield_when_idle": "1", "orte_abort_print_stack": "1"}
    if args.no_memory_hooks:
        settings["opal_common_ucx_opal_mem_hooks"] = "0"
        settings["memory"] = "^patcher"
    if args.mpi == "openmpi5":
        # Spawned ranks inherit the launcher's environment; the others get the settings of -x. All functions that the
        # libraries import are bound at the start, so that a missing one is detected.
        ranks_only.update(LD_LIBRARY_PATH=library_path(args), LD_BIND_NOW="1")
        line = [str(args.venv / "bin/mpirun"), "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "-np", str(args.np)]
    else:
        line = [tool("oshrun" if args.mpi == "shmem" else "mpirun", "openmpi-bin"), "--oversubscribe", "-np",
                str(args.np)]
    if args.mpi == "shmem":
        settings["spml"] = "ucx"
        # While Open MPI closes its components, freeing memory calls a hook of a component that is already unloaded, with
        # any UCX. Without memory hooks there is no such call.
        settings["memory"] = "^patcher"
    for name, value in settings.items():
        line += ["--mca", name, value]
    for name, value in ranks_only.items():
        line += ["-x", f"{name}={value}"]
    return line + command


def wait(process, args, wanted, seen, strange):
    """Waits for mpirun. Adds ranks that have mapped only the wanted libucp to `seen`, and others to `strange`. Returns
    False if the time is over."""
    end = time.monotonic() + args.timeout
    while process.poll() is None:
        for pid in descendants(process.pid):
            files = mapped_libucp(pid)
            if files == {wanted}:
                seen.add(pid)
            elif files:
                strange[pid] = files
        if time.monotonic() > end:
            return False
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
    return True


def hpcc_result(folder):
    """Returns None if HPCC reports that all checks passed, otherwise the problem."""
    try:
        text = (folder / "hpccoutf.txt").read_text()
    except OSError:
        return "hpccoutf.txt was not written"
    failed = re.search(r"^\s*(\d+) tests completed and failed residual checks", text, re.M)
    if "Success=1" not in text:
        return "hpccoutf.txt does not say Success=1"
    if failed and int(failed.group(1)) > 0:
        return f"{failed.group(1)} residual checks failed"
    return None


NO_GROUP = "no group could be made"


def all_forms(names):
    return [form for name in names for form in (f"MPI_{name}", f"MPI_I{name.lower()}", f"MPI_{name}_init")]


# By program: the functions of MPI whose calls libucg_mpi must take, that is, carry out itself. In other programs it must
# take calls of at least one function.
TAKEN = {
    "taken_forms": all_forms(["Barrier", "Bcast", "Reduce", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv",
                              "Reduce_scatter", "Reduce_scatter_block"]),
    "taken_progress": ["MPI_Barrier", "MPI_Ibarrier", "MPI_Reduce", "MPI_Allreduce", "MPI_Iallreduce",
                       "MPI_Allreduce_init", "MPI_Iallgather"],
    "taken_groups": ["MPI_Barrier", "MPI_Allreduce", "MPI_Iallreduce"],
}
# By program: the reasons for which libucg_mpi may hand calls over to the MPI, for example a datatype that it does not
# support.
NOT_YET = "non-blocking before there was a group"
HANDED_OVER = {"taken_forms": {"one rank only", "intercommunicator", "datatype", "operator"}, "taken_progress": set(),
               "taken_groups": {NO_GROUP, NOT_YET}, "taken_many": {NO_GROUP}}


def statistics_of(output):
    """Returns the statistics of libucg_mpi by function: calls taken, calls handed over to the MPI, and the reasons."""
    return {name: (int(taken), int(handed_over), set(re.findall(r"\d+ ([^,]+)", reason_text or "")))
            for name, taken, handed_over, reason_text in re.findall(
                r"^# ucg_mpi: (MPI_\w+): (\d+) taken, (\d+) handed over(?:: (.*))?$", output, re.M)}


def not_left(args, output):
    """Returns None if libucg_mpi handed over all calls for the reason of --left-for, otherwise the problem."""
    rows = statistics_of(output)
    for name, (taken, _, reasons) in rows.items():
        if taken or reasons != {args.left_for}:
            return f"of {name} {taken} calls were taken, and others handed over: {', '.join(sorted(reasons))}"
    return None if rows else "libucg_mpi printed no statistics"


def not_taken(args, output):
    """Returns None if libucg_mpi took the expected calls, otherwise the problem."""
    rows = statistics_of(output)
    if not any(taken for taken, _, _ in rows.values()):
        return "no call was taken by libucg_mpi"
    for name, (_, _, reasons) in rows.items():
        if NO_GROUP in reasons and NO_GROUP not in HANDED_OVER.get(args.program, ()):
            return f"calls of {name} were handed over, for {NO_GROUP}"
    expected = re.search(r"^(\d+) groups expected$", output, re.M)
    groups = re.search(r"^# ucg_mpi: groups of communicators: (\d+) made, (\d+) used again", output, re.M)
    if expected and (groups is None or int(groups[1]) + int(groups[2]) != int(expected[1])):
        return f"there were not {expected[1]} groups of communicators: {groups[0] if groups else 'no statistics'}"
    for name in TAKEN.get(args.program, []):
        taken, handed_over, reasons = rows.get(name, (0, 0, set()))
        if taken == 0 or handed_over > taken:
            return f"of {name} {taken} calls were taken and {handed_over} handed over"
        if reasons - HANDED_OVER[args.program]:
            return f"calls of {name} were handed over: {', '.join(sorted(reasons - HANDED_OVER[args.program]))}"
    return None


def verdict(args, code, output, wanted, seen, strange, pattern, folder):
    """Returns None if the run passed, otherwise the reason of the failure."""
    if code != 0:
        return f"mpirun ended with {code}"
    reason = None
    if args.left_for:
        reason = not_left(args, output)
    elif args.taken and args.np > 1:
        reason = not_taken(args, output)
    if reason is None and args.says not in output:
        reason = f"the output has no \"{args.says}\""
    lines = [line for line in output.splitlines() if re.match(r"ucg_mpi: |\[.*\b(ERROR|WARN)\b", line)]
    if reason is None and len(lines) > args.most_lines:
        reason = f"the libraries have written {len(lines)} lines, and not at most {args.most_lines}"
    if reason:
        return reason
    if strange:
        return f"ranks have mapped other libraries: {strange}"
    if args.program == "hpcc":
        reason = hpcc_result(folder)
    else:
        reason = None if re.search(pattern, output, re.M) else f"the output has no /{pattern}/"
    if reason is None and args.program in PACKAGES and not seen:
        reason = f"no rank was seen with {wanted} mapped"
    return reason


PACKAGES = ("netpipe", "hpcc", "mpi4py")


def main():
    # SIGTERM raises an exception, so that the cleanup kills the ranks.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lib", type=Path, required=True, help="folder of the libucp.so.0 to run on")
    parser.add_argument("--bin", type=Path, help="folder of the test programs")
    parser.add_argument("--program", required=True, help="name of a test program, or one of "
                        + ", ".join(PACKAGES))
    parser.add_argument("--mpi", choices=("openmpi", "mpich", "shmem", "openmpi5", "mpich5"), default="openmpi",
                        help="shmem: the OpenSHMEM of Open MPI; openmpi5, mpich5: those of --venv")
    parser.add_argument("--venv", type=Path, help="a virtual environment with an MPI")
    parser.add_argument("--np", type=int, default=2, help="number of ranks")
    parser.add_argument("--tls", default="", help="value of UCX_TLS; empty: unset")
    parser.add_argument("--timeout", type=float, default=120, help="limit in seconds")
    parser.add_argument("--no-memory-hooks", action="store_true", help="without Open MPI's memory hooks: "
                        "they run in ending threads, which ThreadSanitizer has taken down already")
    parser.add_argument("--taken", type=Path, help="libucg_mpi to preload; the run must show that it took calls")
    parser.add_argument("--no-library-path", action="store_true", help="with --taken and the distribution's MPIs: without "
                        "LD_LIBRARY_PATH, so that the preloaded library alone decides which libucp the ranks have")
    parser.add_argument("--left-for", metavar="REASON", help="the reason, as in the statistics of libucg_mpi, for which it "
                        "must leave all calls to the MPI")
    parser.add_argument("--most-lines", type=float, default=float("inf"), metavar="N", help="the number of errors and "
                        "warnings that Hawser's libraries may write")
    parser.add_argument("--says", metavar="TEXT", default="", help="a text that must be in the output")
    args = parser.parse_args()
    if args.taken and not args.taken.exists():
        skip(f"{args.taken.name} was not built: the headers of its MPI are missing")
    libucp = args.lib / "libucp.so.0"
    if not libucp.exists():
        sys.exit(f"{libucp} does not exist: build the library first")
    wanted = str(libucp.resolve())
    with tempfile.TemporaryDirectory(prefix="hawser-mpi-") as name:
        folder = Path(name)
        if args.program in PACKAGES:
            command, pattern = package_command(args.program, folder)
        else:
            program = build(args, folder) if args.venv else args.bin / args.program
            command, pattern = [str(program)], rf"^PASS {args.program}: [1-9]\d* checks"
        return run(args, mpirun(args, command), libucp, wanted, pattern, folder)


def run(args, command, libucp, wanted, pattern, folder):
    seen, strange = set(), {}
    output_path = folder / "output"
    print("+ UCX_TLS=" + (args.tls or "(unset)"), " ".join(command), flush=True)
    started = time.monotonic()
    with output_path.open("wb") as sink:
        process = subprocess.Popen(command, env=environment(args, libucp.resolve()), cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        in_time = False
        try:
            in_time = wait(process, args, wanted, seen, strange)
            if not in_time:
                print(f"no end after {args.timeout:.0f} s; the stacks of all processes:", flush=True)
                show_stacks(descendants(process.pid))
        finally:
            end_all(process)
    output = output_path.read_text(errors="replace")
    print(output[-20000:])
    reason = f"no end after {args.timeout:.0f} s" if not in_time else verdict(
        args, process.returncode, output, wanted, seen, strange, pattern, folder)
    if reason:
        print(f"FAIL {args.program} with {args.np} ranks: {reason}")
        return 1
    print(f"ok in {time.monotonic() - started:.1f} s; {len(seen)} processes seen with only {wanted} mapped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
