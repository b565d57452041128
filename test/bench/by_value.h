/* The order of measured times, for qsort(). */
#ifndef HAWSER_TEST_BY_VALUE_H
#define HAWSER_TEST_BY_VALUE_H

static inline int by_value(const void* a, const void* b) {
    const double one = *(const double*)a, two = *(const double*)b;
    return (one > two) - (one < two);
}

#endif
