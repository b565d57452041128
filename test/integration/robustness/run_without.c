/* run_without CALL... -- PROGRAM ARGUMENT...: runs a program for which these system calls fail
 * with EPERM. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forbid.h"

static const struct {
    const char* name;
    int number;
} calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
};

static int number_of(const char* name) {
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
        if (strcmp(calls[i].name, name) == 0) return calls[i].number;
    }
    return -1;
}

int main(int count, char** words) {
    int numbers[most_forbidden];
    unsigned forbidden = 0;
    int next = 1;
    for (; next < count && strcmp(words[next], "--") != 0; ++next) {
        const int number = number_of(words[next]);
        if (number < 0 || forbidden == most_forbidden) {
            fprintf(stderr, "run_without: %s cannot be forbidden\n", words[next]);
            return 2;
        }
        numbers[forbidden++] = number;
    }
    if (next + 1 >= count) {
        fprintf(stderr, "usage: run_without CALL... -- PROGRAM ARGUMENT...\n");
        return 2;
    }
    if (!forbid_calls(numbers, forbidden, EPERM)) {
        fprintf(stderr, "run_without: seccomp: %s\n", strerror(errno));
        return 77;
    }
    execv(words[next + 1], words + next + 1);
    fprintf(stderr, "run_without: %s: %s\n", words[next + 1], strerror(errno));
    return 2;
}
