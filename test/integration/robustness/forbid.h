/* System calls that the kernel refuses for this process. */
#ifndef ROBUSTNESS_FORBID_H
#define ROBUSTNESS_FORBID_H

#include <stdbool.h>

enum { most_forbidden = 8 };

/* The calls with these numbers fail with `error`, in this process and in those that it starts.
 * Returns false, with errno set, if the filter cannot be installed. */
bool forbid_calls(const int* numbers, unsigned count, int error);

#endif
