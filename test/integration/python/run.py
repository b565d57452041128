#!/usr/bin/env python3
"""Runs third-party programs that use UCX from Python on this library, in the environments of contrib/make-venv.

  run.py --venvs FOLDER --lib FOLDER ucxx-tests    the tests of ucxx's Dask communication, unmodified
  run.py --venvs FOLDER --lib FOLDER ucxx-bench    ucxx's own benchmark, between two processes
  run.py --venvs FOLDER --lib FOLDER ucxx-messages a server and a client of ucxx's asyncio interface
  run.py --venvs FOLDER --lib FOLDER nixl          two NIXL agents through its UCX plug-in

Each proves that no other UCX took part. Exit status 77 after a line "SKIP: reason".
"""
import argparse
import glob
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from processes import clean, run_group  # noqa: E402

HERE = Path(__file__).resolve().parent
SKIP = 77
# Unmodified tests that need no GPU. Tests that start "dask" on the command line are excluded: they fail without a GPU
# over OpenUCX, too. Tests that need cupy, cudf or numba skip themselves.
UCXX_TESTS = ["test_comms.py", "test_deserialize.py", "test_ucxx.py", "test_ucxx_config.py", "test_version.py"]
UCXX_LEFT_OUT = "not test_ucx_config_w_env_var"


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def environment(args, venv):
    """Settings that make loaders prefer this library to the copies in wheels."""
    return clean("UCX_", "PYTHON", LD_LIBRARY_PATH=str(args.lib), RAPIDS_LIBUCX_PREFER_SYSTEM_LIBRARY="true",
                 PYTHONPATH=str(HERE), HAWSER_EXPECT_FOLDER=str(args.lib), PATH=f"{venv}/bin:{os.environ['PATH']}",
                 PYTHONDONTWRITEBYTECODE="1", **dict(args.set))


def ucxx_tests(args, venv):
    tests = next(venv.glob("lib/python3*/site-packages/distributed_ucxx/tests"), None)
    if tests is None:
        skip(f"{venv} has no tests of distributed_ucxx")
    with tempfile.TemporaryDirectory() as folder:
        status, output = run_group([venv / "bin/python", "-m", "pytest", "-q", "-rfE", "-W", "ignore", "-p", "served_by",
                              "-p", "no:cacheprovider", "--timeout", "60", "-k", UCXX_LEFT_OUT,
                              *[tests / name for name in UCXX_TESTS]],
                             environment(args, venv), args.limit, cwd=folder)
    passed = re.search(r"(\d+) passed", output)
    if status == 0 and passed and "served_by: libucm" in output:
        print(output[output.rindex("served_by:"):].strip())
        return 0
    print(output)
    return 1


def initialised(folder):
    """UCX libraries that processes initialised, from the dynamic linker's logs in a folder: process -> paths."""
    found = {}
    for log in Path(folder).glob("linker.*"):
        paths = re.findall(r"calling init: (\S*/libuc[mstp](?:_signal)?[.-]\S*)", log.read_text(errors="replace"))
        if paths:
            found[log.suffix] = {os.path.realpath(path) for path in paths}
    return found


def ucxx_bench(args, venv):
    env = environment(args, venv)
    with tempfile.TemporaryDirectory() as folder:
        env.update(LD_DEBUG="files", LD_DEBUG_OUTPUT=f"{folder}/linker")
        status, output = run_group([venv / "bin/python", "-m", "ucxx.benchmarks.send_recv", "--backend", args.backend,
                              "--object_type", "numpy", "--reuse-alloc", "--n-bytes", "1MiB", "--n-iter", "10",
                              "--n-warmup-iter", "2", "--server-address", "127.0.0.1"], env, args.limit)
        served = initialised(folder)
    lib_folder = os.path.realpath(args.lib)
    foreign = {path for paths in served.values() for path in paths if os.path.dirname(path) != lib_folder}
    if foreign or len(served) < 2:
        print(f"not served by {lib_folder} alone: {served}")
        return 1
    speed = re.search(r"^Bandwidth \(average\).*$", output, re.M)
    print(f"{len(served)} processes; {speed.group(0)}" if status == 0 and speed else output)
    return 0 if status == 0 and speed else 1


def ucxx_messages(args, venv):
    status, output = run_group([venv / "bin/python", HERE / "ucxx_messages.py"], environment(args, venv), args.limit)
    ended = re.search(r"^ok (.*)$", output, re.M)
    lib_folder = os.path.realpath(args.lib)
    paths = ended.group(1).split() if ended else []
    good = status == 0 and paths and all(os.path.dirname(path) == lib_folder for path in paths)
    print(ended.group(0) if good else f"status {status}\n{output}")
    return 0 if good else 1


def foreign_bindings(log, folder):
    """Symbols of UCX that are bound to another library according to a log of the dynamic linker, and the number of
    ours."""
    bound = re.findall(r"binding file \S*libplugin_UCX\.so \[0\] to (\S+) \[0\]: normal symbol `(uc[ps]_\w+)'", log)
    own_names = [name for path, name in bound if os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder)]
    return sorted(name for path, name in bound
                  if os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder)), own_names


def nixl(args, venv):
    # The wheel's plug-in needs libraries with names of its own; the preloaded library is searched first all the same.
    env = environment(args, venv)
    with tempfile.TemporaryDirectory() as folder:
        env.update(LD_PRELOAD=str(args.lib / "libucp.so.0"), LD_DEBUG="bindings", LD_DEBUG_OUTPUT=f"{folder}/bindings")
        status, output = run_group([venv / "bin/python", HERE / "nixl_agents.py"], env, args.limit)
        log = "".join(Path(name).read_text(errors="replace") for name in glob.glob(f"{folder}/bindings.*"))
    foreign, own_names = foreign_bindings(log, args.lib)
    if foreign or len(own_names) < 20:
        print(f"the plug-in uses another UCX for {foreign}, this one for {own_names}")
        return 1
    print(output.strip().splitlines()[-1] if status == 0 else output)
    return 0 if status == 0 and "ok: READ and WRITE" in output else 1


ACTIONS = {"ucxx-tests": ("ucxx", ucxx_tests), "ucxx-bench": ("ucxx", ucxx_bench),
           "ucxx-messages": ("ucxx", ucxx_messages), "nixl": ("nixl", nixl)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venvs", type=Path, required=True)
    parser.add_argument("--lib", type=Path, required=True, help="folder of the tested libucp.so.0")
    parser.add_argument("--limit", type=int, default=200, help="seconds")
    parser.add_argument("--backend", default="ucxx-async")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=lambda text: text.split("=", 1))
    parser.add_argument("action", choices=ACTIONS)
    args = parser.parse_args()
    name, action = ACTIONS[args.action]
    venv = args.venvs / name
    if not (venv / "built-from.txt").exists():
        skip(f"{venv} is not there; contrib/make-venv makes it, if the Python package index can be reached")
    return action(args, venv)


if __name__ == "__main__":
    sys.exit(main())
