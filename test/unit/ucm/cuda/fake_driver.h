/* The variables of the fake CUDA driver that tests read and change. */
#pragma once

struct fake_driver_state {
    int calls;                    /* of functions that allocate or free */
    int bindings;                 /* calls of cuMemUnmap that looked up its code */
    int is_full;                  /* allocations fail */
    unsigned long long arguments; /* sum of the arguments that no event and no result depends on */
};
