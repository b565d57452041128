/*
 * Prints the return values of libucm's public functions, one line per operation.
 *
 *     return_values LIBRARY OPERATION VALUE...
 *
 * Every operation is a function of libucm with one argument: a set of event kinds, or a hook mode.
 * After each one the program maps and unmaps a page and prints how many events its handler saw.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucm/api/ucm.h>

/* OpenUCX's libucm imports two functions from its libucs, which would change the results,
 * because libucs sets handlers when it is loaded. The dynamic linker finds these in the program
 * instead. */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE void ucs_load_modules(void);
VISIBLE int ucs_sys_is_dynamic_lib(void);

void ucs_load_modules(void) {}

int ucs_sys_is_dynamic_lib(void) {
    return 1;
}

static unsigned events_seen;

static void count(ucm_event_type_t type, ucm_event_t* event, void* arg) {
    (void)type;
    (void)event;
    (void)arg;
    ++events_seen;
}

static void* library;

static void* find(const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return symbol;
}

static int run(const char* operation, int value) {
    if (strcmp(operation, "hook_mode") == 0) {
        ((ucm_global_config_t*)find("ucm_global_opts"))->mmap_hook_mode =
            (ucm_mmap_hook_mode_t)value;
        return UCS_OK;
    }
    if (strcmp(operation, "declare") == 0) {
        ((void (*)(int))find("ucm_set_external_event"))(value);
        return UCS_OK;
    }
    if (strcmp(operation, "withdraw") == 0) {
        ((void (*)(int))find("ucm_unset_external_event"))(value);
        return UCS_OK;
    }
    if (strcmp(operation, "handle") == 0) {
        return ((ucs_status_t(*)(int, int, ucm_event_callback_t, void*))find(
            "ucm_set_event_handler"))(value, 0, count, NULL);
    }
    if (strcmp(operation, "unhandle") == 0) {
        ((void (*)(int, ucm_event_callback_t, void*))find("ucm_unset_event_handler"))(value, count,
                                                                                      NULL);
        return UCS_OK;
    }
    if (strcmp(operation, "test") == 0)
        return ((ucs_status_t(*)(int))find("ucm_test_events"))(value);
    if (strcmp(operation, "test_external") == 0)
        return ((ucs_status_t(*)(int))find("ucm_test_external_events"))(value);
    fprintf(stderr, "there is no operation %s\n", operation);
    exit(2);
}

int main(int argc, char** argv) {
    if (argc < 2 || (library = dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL)) == NULL) {
        fprintf(stderr, "%s\n", argc < 2 ? "no library is named" : dlerror());
        return 2;
    }
    for (int i = 2; i + 1 < argc; i += 2) {
        const int answer = run(argv[i], (int)strtol(argv[i + 1], NULL, 0));
        events_seen = 0;
        void* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page, 4096);
        printf("%d %u\n", answer, events_seen);
    }
    return 0;
}
