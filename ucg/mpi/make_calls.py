#!/usr/bin/env python3
"""Writes the wrappers of MPI functions that ucg can neither serve nor split, from the headers of the MPI that they are built for.

  make_calls.py INCLUDE_FOLDER OUTPUT_FOLDER

writes waiting_calls.cpp: a rank may wait for other ranks in these functions, so another thread makes progress for ucg
meanwhile; and later_calls.hpp: declarations of the functions of MPI 4 that Open MPI 5 has and the headers of Open MPI 4
lack. The build calls this script. test/abi/check_mpi_names.py notices a function that is missing.
"""
import argparse
import re
import sys
from pathlib import Path

HEADERS = ("mpi.h", "mpi_proto.h", "mpio.h")
NEIGHBORS = ["Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw"]
KEPT = ["Gather", "Gatherv", "Scatter", "Scatterv", "Scan", "Exscan", "Alltoallw", *NEIGHBORS]
FILES = [f"File_{name}{end}" for name in ("read_all", "write_all", "read_at_all", "write_at_all", "read_ordered",
                                          "write_ordered") for end in ("", "_begin", "_end")]
NAMES = [
    *KEPT, *[f"{name}_init" for name in KEPT],
    "Buffer_detach",
    "Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect", "Comm_join", "Comm_set_info", "Session_finalize",
    "Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "Win_free", "Win_set_info", "Win_fence",
    "Win_start", "Win_complete", "Win_wait", "Win_lock", "Win_unlock", "Win_lock_all", "Win_unlock_all", "Win_flush",
    "Win_flush_all", "Win_flush_local", "Win_flush_local_all",
    "File_open", "File_close", "File_set_size", "File_preallocate", "File_set_view", "File_set_info",
    "File_set_atomicity", "File_sync", "File_seek_shared",
    *FILES,
]
TAKEN = ["Barrier", "Bcast", "Reduce", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Reduce_scatter",
         "Reduce_scatter_block"]
# Open MPI 5 has these functions of MPI 4, and the headers of Open MPI 4 do not declare them. A persistent collective takes the
# parameters of the blocking one and two more.
PERSISTENT = [f"{name}_init" for name in TAKEN + KEPT]
PERSISTENT_END = ", MPI_Info info, MPI_Request* request"
LATER = {
    "Comm_create_from_group": "MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* comm",
    "Intercomm_create_from_groups": "MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader, "
                                    "const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* comm",
    "Parrived": "MPI_Request request, int partition, int* flag",
    "Session_finalize": "MPI_Session* session",
}
LATER_HEAD = """#pragma once

#include <mpi.h>

extern "C" {

typedef struct ompi_instance_t* MPI_Session;

"""
HEAD = """#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/progress.hpp"

using namespace ucg::mpi;

"""


def declared(text):
    """Returns the parameters of each function, as one line, by its name without "MPI_"."""
    text = re.sub(r"/\*.*?\*/|^\s*#[^\n]*", " ", text, flags=re.S | re.M).replace("ROMIO_CONST", "const")
    return {name: " ".join(parameters.split())
            for name, parameters in re.findall(r"\bint\s+MPI_(\w+)\s*\(([^()]*)\)", text)}


def missing_in_open_mpi_4(known):
    """Returns the functions that only Open MPI 5 has, as declared() does."""
    persistent = {name: known[name.removesuffix("_init")] + PERSISTENT_END for name in PERSISTENT}
    return {name: parameters for name, parameters in {**persistent, **LATER}.items() if name not in known}


def wrapper(name, parameters):
    arguments = [re.search(r"(\w+)\s*(\[\])*$", each.strip())[1] for each in parameters.split(",")]
    # The MPI of the run need not have a function that its newer versions have.
    call = (f"pass_on({', '.join([f'PMPI_{name}', *arguments])})" if name in PERSISTENT or name in LATER else
            f"PMPI_{name}({', '.join(arguments)})")
    return f"int MPI_{name}({parameters}) {{\n    return call_blocking([&] {{ return {call}; }});\n}}\n"


def declaration(name, parameters):
    return f"int MPI_{name}({parameters});\nint PMPI_{name}({parameters}) __attribute__((weak));\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("include_folder", type=Path, help="the folder that mpi.h is in")
    parser.add_argument("output_folder", type=Path, help="the folder to write to; it is made if it is not there")
    args = parser.parse_args()
    paths = [args.include_folder / name for name in HEADERS]
    text = "\n".join(path.read_text() for path in paths if path.exists())
    known = declared(text)
    later = missing_in_open_mpi_4(known) if re.search(r"#\s*define\s+OPEN_MPI\b", text) else {}
    all_calls = {**known, **later}
    always = [name for name in NAMES if name not in PERSISTENT and name not in LATER]
    missing = [name for name in always if name not in known]
    if missing:
        sys.exit(f"{args.include_folder}: the headers do not declare " + ", ".join(f"MPI_{name}" for name in missing))
    # "_c": the function with large counts, where the MPI has one.
    wrapped = [each for name in NAMES for each in (name, name + "_c") if each in all_calls]
    args.output_folder.mkdir(parents=True, exist_ok=True)
    (args.output_folder / "waiting_calls.cpp").write_text(HEAD + "\n".join(wrapper(name, all_calls[name]) for name in wrapped))
    (args.output_folder / "later_calls.hpp").write_text(
        LATER_HEAD + "\n".join(declaration(*each) for each in later.items()) + '\n}  // extern "C"\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
