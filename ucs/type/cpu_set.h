/* A set of processors: 1024 bits, laid out like the C library's cpu_set_t. */
#ifndef UCS_TYPE_CPU_SET_H_
#define UCS_TYPE_CPU_SET_H_

#include <stddef.h>
#include <stdint.h>

typedef unsigned long int ucs_cpu_mask_t;

#define UCS_CPU_SETSIZE 1024
#define UCS_NCPUBITS (8 * sizeof(ucs_cpu_mask_t))

/* The word that holds a processor's bit, and the bit within it. */
#define UCS_CPUELT(_cpu) ((_cpu) / UCS_NCPUBITS)
#define UCS_CPUMASK(_cpu) ((ucs_cpu_mask_t)1 << ((_cpu) % UCS_NCPUBITS))

/** Bit n of the array stands for processor n. */
typedef struct {
    ucs_cpu_mask_t ucs_bits[UCS_CPU_SETSIZE / UCS_NCPUBITS];
} ucs_cpu_set_t;

/** Removes every processor from the set. */
#define UCS_CPU_ZERO(_cpusetp)                                             \
    do {                                                                   \
        size_t _word;                                                      \
        for (_word = 0; _word < UCS_CPU_SETSIZE / UCS_NCPUBITS; ++_word) { \
            (_cpusetp)->ucs_bits[_word] = 0;                               \
        }                                                                  \
    } while (0)

/** Adds a processor; numbers of UCS_CPU_SETSIZE and above change nothing. */
#define UCS_CPU_SET(_cpu, _cpusetp)                                          \
    do {                                                                     \
        size_t _index = (size_t)(_cpu);                                      \
        if (_index < UCS_CPU_SETSIZE) {                                      \
            (_cpusetp)->ucs_bits[UCS_CPUELT(_index)] |= UCS_CPUMASK(_index); \
        }                                                                    \
    } while (0)

/** Removes a processor; numbers of UCS_CPU_SETSIZE and above change nothing. */
#define UCS_CPU_CLR(_cpu, _cpusetp)                                           \
    do {                                                                      \
        size_t _index = (size_t)(_cpu);                                       \
        if (_index < UCS_CPU_SETSIZE) {                                       \
            (_cpusetp)->ucs_bits[UCS_CPUELT(_index)] &= ~UCS_CPUMASK(_index); \
        }                                                                     \
    } while (0)

/** Returns 1 when the processor is in the set, else 0 (also for impossible numbers). */
static inline int ucs_cpu_is_set(int cpu, const ucs_cpu_set_t* cpusetp) {
    size_t index = (size_t)cpu;
    if ((cpu < 0) || (cpu >= UCS_CPU_SETSIZE)) {
        return 0;
    }
    return (cpusetp->ucs_bits[UCS_CPUELT(index)] & UCS_CPUMASK(index)) != 0;
}

/** Returns the lowest processor in the set; 0 when the set is empty. */
static inline int ucs_cpu_set_find_lcs(const ucs_cpu_set_t* cpu_mask) {
    int cpu;
    for (cpu = 0; cpu < UCS_CPU_SETSIZE; ++cpu) {
        if (ucs_cpu_is_set(cpu, cpu_mask)) {
            return cpu;
        }
    }
    return 0;
}

#endif
