/* Checks which library serves an MPI run: the point-to-point component that Open MPI chose, and
 * the file of its UCP functions. MPICH has no components and calls UCP from its library; the UCP
 * clients call UCP themselves. The check reads data of the dynamic linker and the kernel, so
 * settings cannot falsify it. Include after mpi.h, if mpi.h is used. */
#ifndef HAWSER_TEST_MPI_PROVIDER_H
#define HAWSER_TEST_MPI_PROVIDER_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI

/* File of the component behind Open MPI's point-to-point layer; "" if unknown. */
static inline const char* provider_pml(void) {
    void* const* pml = dlsym(RTLD_DEFAULT, "mca_pml");
    Dl_info info;
    if (pml == NULL || dladdr(*pml, &info) == 0 || info.dli_fname == NULL) return "";
    return info.dli_fname;
}

/* Open MPI 5 has its components in its library. The runner selects pml/ucx only. */
static inline bool provider_is_ucx(void) {
    return strstr(provider_pml(), "mca_pml_ucx") != NULL ||
           strstr(provider_pml(), "/libmpi.so") != NULL;
}

static inline void* provider_open(void) {
    return dlopen(provider_pml(), RTLD_LAZY | RTLD_NOLOAD);
}

#else

static inline const char* provider_pml(void) {
    return "MPICH";
}
static inline bool provider_is_ucx(void) {
    return true;
}
static inline void* provider_open(void) {
    return dlopen(NULL, RTLD_LAZY);
}

#endif

/* Stores in `path` the file from which that component takes ucp_tag_send_nbx; false if there is
 * none. */
static inline bool provider_libucp(char path[PATH_MAX]) {
    void* component = provider_open();
    Dl_info info;
    if (component == NULL) return false;
    void* symbol = dlsym(component, "ucp_tag_send_nbx");
    const bool known = symbol != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL &&
                       realpath(info.dli_fname, path) != NULL;
    dlclose(component);
    return known;
}

/* Number of different libucp files in /proc/self/maps; stores one of them in `last`. */
static inline int provider_mapped(char last[PATH_MAX]) {
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 128];
    int files = 0;
    last[0] = '\0';
    if (maps == NULL) return 0;
    while (fgets(line, sizeof(line), maps) != NULL) {
        char* path = strchr(line, '/');
        if (path == NULL || strstr(path, "/libucp.so") == NULL) continue;
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(path, last) == 0) continue;
        snprintf(last, PATH_MAX, "%.*s", PATH_MAX - 1, path);
        ++files;
    }
    fclose(maps);
    return files;
}

/* HAWSER_EXPECT_LIBUCP names the file that must serve the run (unset: nothing is checked).
 * Returns true if pml/ucx was chosen, exactly that file is mapped, and pml/ucx calls it. */
static inline bool provider_check(char* why, size_t size) {
    const char* expected = getenv("HAWSER_EXPECT_LIBUCP");
    char want[PATH_MAX], mapped[PATH_MAX], called[PATH_MAX];
    if (expected == NULL || *expected == '\0') return true;
    if (realpath(expected, want) == NULL) {
        snprintf(why, size, "HAWSER_EXPECT_LIBUCP=%s does not exist", expected);
    } else if (!provider_is_ucx()) {
        snprintf(why, size, "pml is \"%s\", not mca_pml_ucx", provider_pml());
    } else if (provider_mapped(mapped) != 1 || strcmp(mapped, want) != 0) {
        snprintf(why, size, "mapped is \"%.300s\", wanted only \"%.300s\"", mapped, want);
    } else if (!provider_libucp(called) || strcmp(called, want) != 0) {
        snprintf(why, size, "calls go to another library than \"%.300s\"", want);
    } else {
        return true;
    }
    return false;
}

#endif
