// Ranks of a benchmark that are forked processes, each bound to a core.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

// Runs body(rank) in a process for each rank, and waits for all. Returns the exit status of the
// program. No process watches the ranks: the caller ends the program if a rank hangs.
template<class Body>
int run_forked_ranks(unsigned ranks, const Body& body) {
    for (unsigned rank = 0; rank < ranks; ++rank) {
        if (::fork() != 0) continue;
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(rank % static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)), &cores);
        (void)::sched_setaffinity(0, sizeof cores, &cores);
        body(rank);
        std::fflush(stdout);
        ::_exit(0);
    }
    int worst = 0;
    for (int status = 0; ::wait(&status) > 0;)
        worst = std::max(worst, status);
    return worst == 0 ? 0 : 1;
}
