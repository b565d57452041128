/* Helpers of the one-sided programs: windows of each flavor behind one structure, and a check
 * that Open MPI's osc/ucx serves them (MPICH always uses UCP). Include after check.h. */
#ifndef HAWSER_TEST_MPI_WINDOW_H
#define HAWSER_TEST_MPI_WINDOW_H

#include "check.h"

enum flavor { flavor_create, flavor_allocate, flavor_dynamic, flavors };

/* `size` bytes at every rank between guards of `window_guard` bytes that must not be written. */
struct window {
    MPI_Win win;
    enum flavor flavor;
    unsigned char* base;   /* of the memory with its guards */
    unsigned char* memory; /* behind the first guard */
    size_t size;
    MPI_Aint* places; /* displacement of `memory` at each rank */
};

enum { window_guard = 64 };

/* The ranks before and behind this one in a ring of all ranks. */
static int next, previous;

static inline const char* flavor_name(enum flavor flavor) {
    static const char* const names[] = {"create", "allocate", "dynamic"};
    return names[flavor];
}

/* All ranks must call it. Displacements are bytes: each rank's displacement unit is 1. */
static inline struct window window_new(enum flavor flavor, size_t size) {
    struct window w = {.flavor = flavor, .size = size};
    const MPI_Aint bytes = (MPI_Aint)(size + 2 * window_guard);
    MPI_Aint place = window_guard;
    if (flavor == flavor_allocate) {
        MPI_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win));
    } else {
        CHECK((w.base = malloc((size_t)bytes)) != NULL, "no memory");
    }
    if (flavor == flavor_create)
        MPI_OK(MPI_Win_create(w.base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    w.memory = w.base + window_guard;
    if (flavor == flavor_dynamic) {
        MPI_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
        MPI_OK(MPI_Win_attach(w.win, w.base, bytes));
        MPI_OK(MPI_Get_address(w.memory, &place));
    }
    memset(w.base, guard_value, (size_t)bytes);
    memset(w.memory, untouched, size);
    CHECK((w.places = malloc((size_t)ranks * sizeof(MPI_Aint))) != NULL, "no memory");
    MPI_OK(MPI_Allgather(&place, 1, MPI_AINT, w.places, 1, MPI_AINT, MPI_COMM_WORLD));
    return w;
}

/* Displacement of byte `offset` of the window's memory at `target`. */
static inline MPI_Aint window_at(const struct window* w, int target, size_t offset) {
    return w->places[target] + (MPI_Aint)offset;
}

/* Transfers elements of one type to or from byte `offset` of the window's memory at `target`. */
#define WINDOW_PUT(w, data, count, type, target, offset) \
    MPI_OK(MPI_Put(data, count, type, target, window_at(w, target, offset), count, type, (w)->win))
#define WINDOW_GET(w, data, count, type, target, offset) \
    MPI_OK(MPI_Get(data, count, type, target, window_at(w, target, offset), count, type, (w)->win))

/* All ranks must call it, outside of any epoch. */
static inline void window_free(struct window* w) {
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (size_t i = 0; i < window_guard; ++i) {
        CHECK(w->base[i] == guard_value, "%s: guard byte %zu was written", flavor_name(w->flavor),
              i);
        CHECK(w->memory[w->size + i] == guard_value, "%s: byte %zu behind the end was written",
              flavor_name(w->flavor), i);
    }
    if (w->flavor == flavor_dynamic) MPI_OK(MPI_Win_detach(w->win, w->base));
    MPI_OK(MPI_Win_free(&w->win));
    if (w->flavor != flavor_allocate) free(w->base);
    free(w->places);
}

/* Checks that the one-sided component is loaded, and no other one that could serve a window.
 * Open MPI 5 has its components in its library; the runner selects osc/ucx only. */
static inline void check_one_sided_component(void) {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 128];
    int ucx = 0;
    CHECK(maps != NULL, "no /proc");
    while (fgets(line, sizeof(line), maps) != NULL) {
        const char* component = strstr(line, "/mca_osc_");
        if (component == NULL) continue;
        CHECK(strncmp(component, "/mca_osc_ucx.", 13) == 0, "loaded, too: %s", component);
        ++ucx;
    }
    fclose(maps);
    CHECK(ucx > 0, "osc/ucx is not loaded");
#endif
}

static inline void window_begin(int* argc, char*** argv, const char* name) {
    test_begin(argc, argv, name, MPI_THREAD_SINGLE);
    CHECK(ranks >= 2, "needs two ranks");
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    check_one_sided_component();
}

#endif
