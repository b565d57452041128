/* Binding of a benchmark's ranks to processors, for programs in C and C++. */
#ifndef HAWSER_TEST_BIND_H
#define HAWSER_TEST_BIND_H

#include <sched.h>
#include <stdlib.h>

/* Binds this process to one of the processors of a list with commas: to that at `index`, modulo
 * the length. Returns 0 if it cannot be bound. Must be called before any memory is touched. */
static inline int bind_to_entry(const char* list, unsigned long index) {
    unsigned long cpus[CPU_SETSIZE];
    size_t count = 0;
    cpu_set_t chosen;
    while (*list != '\0' && count < CPU_SETSIZE) {
        char* end = NULL;
        cpus[count++] = strtoul(list, &end, 10);
        if (end == list) return 0;
        list = *end == ',' ? end + 1 : end;
    }
    if (count == 0 || *list != '\0') return 0;
    CPU_ZERO(&chosen);
    CPU_SET(cpus[index % count], &chosen);
    return sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

#endif
