/* System calls that the kernel refuses from now on. */
#ifndef ROBUSTNESS_FORBID_H
#define ROBUSTNESS_FORBID_H

#include <stdbool.h>

enum { most_forbidden = 8 };

/* The calls with these numbers fail with `error`, in this process and those it starts. False with
 * errno set: there is no filter. */
bool forbid_calls(const int* numbers, unsigned count, int error);

#endif
