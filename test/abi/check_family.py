#!/usr/bin/env python3
"""Checks the functions that a program finds if it opens only one library of the family, as Python's clients do.

Each check runs in a process of its own: libraries that are loaded stay loaded.
"""
import argparse
import ctypes
import os
import subprocess
import sys

# Opened library -> functions that are found through it, and the library that defines them.
REACHED = {
    "libucp.so": {"ucp_get_version": "libucp", "ucs_status_string": "libucs", "ucs_log_dispatch": "libucs",
                  "uct_query_components": "libuct", "ucm_set_event_handler": "libucm"},
    "libuct.so": {"uct_query_components": "libuct", "ucs_status_string": "libucs"},
    "libucs.so": {"ucs_status_string": "libucs", "ucm_set_event_handler": "libucm",
                  "ucs_debug_is_error_signal": "libucs"},
    "libucs_signal.so": {},
}


class Place(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def library_of(function):
    place = Place()
    ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(place))
    return os.path.realpath(place.file.decode())


def reached_through(folder, name):
    """Problems with the functions that one library makes reachable."""
    library = ctypes.CDLL(os.path.join(folder, name), ctypes.RTLD_LOCAL)
    for function, wanted in REACHED[name].items():
        try:
            place = library_of(getattr(library, function))
        except AttributeError:
            yield f"{function} is not found through {name}"
            continue
        if not place.startswith(os.path.realpath(folder) + f"/{wanted}.so"):
            yield f"{function} of {name} comes from {place}"


def beside_openucx(folder, openucx_folder):
    """Problems of this libucp in a process that loaded OpenUCX's libucs and libuct before."""
    for name in ("libucs.so.0", "libuct.so.0"):
        ctypes.CDLL(os.path.join(openucx_folder, name), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(os.path.join(folder, "libucp.so"), ctypes.RTLD_GLOBAL)
    place = library_of(library.ucp_config_read)
    if not place.startswith(os.path.realpath(folder)):
        yield f"ucp_config_read comes from {place}"
    config = ctypes.c_void_p()
    status = library.ucp_config_read(None, None, ctypes.byref(config))
    if status != 0:
        yield f"ucp_config_read answers {status}"
    else:
        library.ucp_config_release(config)


def in_a_process(folder, *check):
    environment = {name: value for name, value in os.environ.items()
                   if name != "LD_LIBRARY_PATH" and not name.startswith("UCX_")}
    done = subprocess.run([sys.executable, "-B", __file__, "--folder", folder, "--check", *check], text=True,
                          env=environment, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [] if done.returncode == 0 else [f"{' '.join(check)}: {done.stdout.strip() or done.returncode}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True, help="folder of this library's files")
    parser.add_argument("--theirs", default="/usr/lib/x86_64-linux-gnu", help="folder of OpenUCX's files")
    parser.add_argument("--check", nargs="+", help="one check, in this process")
    args = parser.parse_args()
    if args.check:
        name, *rest = args.check
        problems = list(beside_openucx(args.folder, *rest) if name == "beside" else reached_through(args.folder, name))
    else:
        problems = [line for name in REACHED for line in in_a_process(args.folder, name)]
        if os.path.exists(os.path.join(args.theirs, "libuct.so.0")):
            problems += in_a_process(args.folder, "beside", args.theirs)
        else:
            print(f"not tried beside OpenUCX, which is not in {args.theirs}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
