/* Commands that limit a process: resource limits, forbidden system calls, forks and sudden
 * death. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forbid.h"
#include "peer.h"

static uint64_t polls_to_live;

void count_poll(void) {
    if (polls_to_live > 0 && --polls_to_live == 0) raise(SIGKILL);
}

static void die(const char* unit, uint64_t amount) {
    if (strcmp(unit, "polls") == 0) {
        polls_to_live = amount;
        say("ok");
        return;
    }
    struct sigevent event = {0};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t timer;
    struct itimerspec when = {0};
    when.it_value.tv_sec = (time_t)(amount / 1000000);
    when.it_value.tv_nsec = (long)(amount % 1000000 * 1000) + 1;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        say("error timer: %s", strerror(errno));
        return;
    }
    say("ok"); /* reply first: there may be no time later */
    timer_settime(timer, 0, &when, NULL);
}

/* Sets the soft limit, which may be raised again. */
static void limit(const char* name, unsigned long long amount) {
    /* The cast is to glibc's type: Clang does not accept an int for it. */
    const __rlimit_resource_t resource = strcmp(name, "nofile") == 0 ? RLIMIT_NOFILE : RLIMIT_AS;
    struct rlimit bound;
    bool good = getrlimit(resource, &bound) == 0;
    if (good) {
        bound.rlim_cur = amount < bound.rlim_max ? amount : bound.rlim_max;
        good = setrlimit(resource, &bound) == 0;
    }
    say(good ? "ok" : "error %s", strerror(errno));
}

/* From now on the kernel returns this error for both calls of single copy. */
static void forbid_single_copy(const char* name) {
    const int number = strcmp(name, "ESRCH") == 0 ? ESRCH : EPERM;
    const int calls[] = {SYS_process_vm_readv, SYS_process_vm_writev};
    if (!forbid_calls(calls, 2, number)) {
        say("error seccomp: %s", strerror(errno));
        return;
    }
    say("ok");
}

/* Forks a child while operations are in flight. The child ends in the given manner. With "stay"
 * it does not end, and the reply is its process id. */
static void fork_child(const char* manner) {
    const pid_t child = fork();
    if (child == 0) {
        if (strcmp(manner, "exit") == 0) exit(0);
        if (strcmp(manner, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
        if (strcmp(manner, "stay") == 0) {
            for (;;)
                pause();
        }
        _exit(0);
    }
    if (child > 0 && strcmp(manner, "stay") == 0) {
        say("ok %d", (int)child);
        return;
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0)
        step();
    say(status == 0 ? "ok" : "error child ended with %x", (unsigned)status);
}

bool hardship(const char* word, char* rest) {
    char text[32] = "";
    unsigned long long amount = 0;
    sscanf(rest, "%31s %llu", text, &amount);
    if (strcmp(word, "die") == 0) {
        die(text, amount);
    } else if (strcmp(word, "limit") == 0) {
        limit(text, amount);
    } else if (strcmp(word, "forbid-single-copy") == 0) {
        forbid_single_copy(text);
    } else if (strcmp(word, "undumpable") == 0) {
        say(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? "ok" : "error");
    } else if (strcmp(word, "fork") == 0) {
        fork_child(text);
    } else {
        return false;
    }
    return true;
}
