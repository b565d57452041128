#!/usr/bin/env python3
"""Installs the build to a fresh folder, moves it, and builds programs with the installed files.

By pkg-config and by find_package(ucx), in C11 and in C++; also every header on its own.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77
WANTED = [f"lib/lib{name}.so{end}" for name in ("ucp", "uct", "ucs", "ucs_signal", "ucm", "ucg") for end in ("", ".0")] + [
    "include/ucp/api/ucp.h", "include/ucp/api/ucp_def.h", "include/ucp/api/ucp_compat.h",
    "include/ucp/api/ucp_version.h", "include/ucp/api/device/ucp_host.h", "include/uct/api/uct.h", "include/uct/api/uct_def.h",
    "include/uct/api/tl.h", "include/uct/api/version.h", "include/ucm/api/ucm.h",
    "include/ucs/type/status.h", "include/ucs/type/thread_mode.h", "include/ucs/type/cpu_set.h",
    "include/ucs/memory/memory_type.h", "include/ucs/config/types.h",
    "include/ucs/sys/compiler_def.h", "include/ucs/debug/log_def.h", "include/ucs/debug/debug.h", "lib/pkgconfig/ucx.pc", "lib/pkgconfig/ucx-ucs.pc",
    "lib/pkgconfig/ucx-uct.pc", "lib/pkgconfig/ucg.pc", "include/ucg/api/ucg.h",
    "include/ucg/api/ucg_info.h", "include/ucg/api/ucg_moe.h", "include/ucg/api/ucg_oob.h", "include/ucg/api/ucg_oob_mpi.h", "lib/cmake/ucx/ucx-config.cmake", "etc/ucx/ucx.conf"]
NEEDS_MPI = ["ucg/api/ucg_oob_mpi.h"]  # not our header, so not installed
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode != 0:
        print(f"{' '.join(command)}\nended with status {done.returncode}:\n{done.stdout}")
        sys.exit(1)
    return done.stdout


def environment(prefix):
    found = dict(os.environ, LD_LIBRARY_PATH=os.path.join(prefix, "lib"),
                 PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
    found.pop("UCX_CONFIG_DIR", None)
    return found


def install(args, folder):
    """Installs, then moves everything, so that no path can refer to the original folder."""
    first, prefix = os.path.join(folder, "first"), os.path.join(folder, "moved")
    run(args.cmake, "--install", args.build, "--prefix", first)
    os.rename(first, prefix)
    missing = [name for name in WANTED if not os.path.exists(os.path.join(prefix, name))]
    if missing:
        sys.exit("not installed: " + ", ".join(missing))
    return prefix


def check_headers(args, prefix, folder):
    include = os.path.join(prefix, "include")
    for where, _, names in os.walk(include):
        for name in names:
            header = os.path.relpath(os.path.join(where, name), include)
            if not name.endswith(".h"):
                sys.exit(f"{header} is installed, but is no public header")
            if header in NEEDS_MPI:
                continue
            source = os.path.join(folder, "alone.c")
            with open(source, "w") as file:
                file.write(f"#include <{header}>\ntypedef int not_empty;\n")
            run(args.cc, "-std=c11", *STRICT, "-I", include, "-fsyntax-only", source)
            run(args.cxx, "-x", "c++", "-std=c++11", *STRICT, "-I", include, "-fsyntax-only", source)


def check_pkg_config(args, prefix, folder, sanitize):
    env = environment(prefix)
    if prefix not in run("pkg-config", "--libs", "ucx", env=env):
        sys.exit("pkg-config does not follow an installation that was moved")
    program = os.path.join(folder, "by_pkg_config")
    for package, text in (("ucx", "program.c"), ("ucg", "group.c")):
        flags = run("pkg-config", "--cflags", "--libs", package, env=env).split()
        source = os.path.join(HERE, text)
        for compiler, language, standard in ((args.cc, "c", "-std=c11"), (args.cxx, "c++", "-std=c++17")):
            run(compiler, "-x", language, standard, *STRICT, *sanitize, source, "-o", program, *flags)
            print(run(program, env=env).strip())


def check_find_package(args, prefix, folder, sanitize):
    build, env = os.path.join(folder, "build"), environment(prefix)
    flags = " ".join(sanitize)
    run(args.cmake, "-S", os.path.join(HERE, "project"), "-B", build,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={args.cc}",
        f"-DCMAKE_CXX_COMPILER={args.cxx}", f"-DCMAKE_C_FLAGS={flags}",
        f"-DCMAKE_CXX_FLAGS={flags}", env=env)
    run(args.cmake, "--build", build, env=env)
    for program in ("in_c", "in_cxx"):
        print(run(os.path.join(build, program), env=env).strip())
        used = run("ldd", os.path.join(build, program), env=env)
        if f"{prefix}/lib/libucp.so.0" not in used:
            sys.exit(f"{program} does not use the installed libucp.so.0:\n{used}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, help="build folder to install from")
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--sanitizer", default="", help="what the libraries were built with")
    args = parser.parse_args()
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        return SKIP
    sanitize = [f"-fsanitize={args.sanitizer}"] if args.sanitizer else []
    with tempfile.TemporaryDirectory() as folder:
        prefix = install(args, folder)
        check_headers(args, prefix, folder)
        check_pkg_config(args, prefix, folder, sanitize)
        check_find_package(args, prefix, folder, sanitize)
    return 0


if __name__ == "__main__":
    sys.exit(main())
