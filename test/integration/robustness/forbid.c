#include "forbid.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

bool forbid_calls(const int* numbers, unsigned count, int error) {
    struct sock_filter program[most_forbidden + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    if (count > most_forbidden) {
        errno = EINVAL;
        return false;
    }
    /* Each comparison that matches jumps over the remaining ones and over the permission. */
    for (unsigned i = 0; i < count; ++i) {
        program[1 + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], (unsigned char)(count - i), 0);
    }
    program[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[count + 2] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    const struct sock_fprog filter = {(unsigned short)(count + 3), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
