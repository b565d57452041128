/*
 * UCM: notifies handlers when memory is mapped, unmapped or moved.
 *
 * Nothing is observed until a handler is set. Then functions of the C library, or of the CUDA
 * driver for memory of GPUs, are replaced, so that their calls are detected from any caller,
 * including the C library itself. They stay replaced until the process ends. A program or library
 * (such as MPI with its own hooks) can declare a kind of events "external": it then reports
 * all changes of that kind, by ucm_vm_mmap and ucm_vm_munmap, or by changing memory through
 * ucm_mmap and similar functions, and nothing is replaced for that kind. All functions may be
 * called by any thread. docs/memory-events.md has the limits.
 */
#ifndef UCM_API_UCM_H_
#define UCM_API_UCM_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** Kinds of events; combine with "or". */
typedef enum ucm_event_type {
    UCM_EVENT_NONE = 0,

    /* Calls of particular functions. */
    UCM_EVENT_MMAP = UCS_BIT(0),
    UCM_EVENT_MUNMAP = UCS_BIT(1),
    UCM_EVENT_MREMAP = UCS_BIT(2),
    UCM_EVENT_SHMAT = UCS_BIT(3),
    UCM_EVENT_SHMDT = UCS_BIT(4),
    UCM_EVENT_SBRK = UCS_BIT(5),
    UCM_EVENT_MADVISE = UCS_BIT(6),
    UCM_EVENT_BRK = UCS_BIT(7),

    /* Effects, caused by any function. */
    UCM_EVENT_VM_MAPPED = UCS_BIT(16),   /* after pages appeared */
    UCM_EVENT_VM_UNMAPPED = UCS_BIT(17), /* before pages go away */

    /* Memory of GPUs. The CUDA driver must be in the process when the handler is set. */
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20), /* after the allocation */
    UCM_EVENT_MEM_TYPE_FREE = UCS_BIT(21),  /* before the memory is freed */

    /* For ucm_set_event_handler. */
    UCM_EVENT_FLAG_NO_INSTALL = UCS_BIT(24),    /* accept incomplete events */
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25) /* has no effect */
} ucm_event_type_t;

/** Method of replacing functions. There is only one: RELOC is the same as BISTRO. */
typedef enum ucm_mmap_hook_mode {
    UCM_MMAP_HOOK_NONE, /* none: only reported events arrive */
    UCM_MMAP_HOOK_RELOC,
    UCM_MMAP_HOOK_BISTRO, /* by changing their code */
    UCM_MMAP_HOOK_LAST
} ucm_mmap_hook_mode_t;

/** Prevents that the library is unloaded after it has replaced functions. */
typedef enum ucm_module_unload_prevent_mode {
    UCM_UNLOAD_PREVENT_MODE_LAZY,
    UCM_UNLOAD_PREVENT_MODE_NOW,  /* same as LAZY */
    UCM_UNLOAD_PREVENT_MODE_NONE, /* not prevented: the program never unloads it */
    UCM_UNLOAD_PREVENT_MODE_LAST
} ucm_module_unload_prevent_mode_t;

/** Details of an event; the event type determines the valid member. */
typedef union ucm_event {
    /* A call with its arguments. Handlers of negative priority run before the call. If such a
       handler sets result to a value other than MAP_FAILED or -1, it has done the work itself. The
       other handlers see the result. */
    struct {
        void* result;
        void* address;
        size_t size;
        int prot;
        int flags;
        int fd;
        off_t offset;
    } mmap;
    struct {
        int result;
        void* address;
        size_t size;
    } munmap;
    struct {
        void* result;
        void* address;
        size_t old_size;
        size_t new_size;
        int flags;
    } mremap;
    struct {
        void* result;
        int shmid;
        const void* shmaddr;
        int shmflg;
    } shmat;
    struct {
        int result;
        const void* shmaddr;
    } shmdt;
    struct {
        void* result;
        intptr_t increment;
    } sbrk;
    struct {
        int result;
        void* addr;
        size_t length;
        int advice;
    } madvise;
    struct {
        int result;
        void* addr;
    } brk;

    /* A range of memory: address and size in bytes. */
    struct {
        void* address;
        size_t size;
    } vm_mapped, vm_unmapped;
    struct {
        void* address;
        size_t size;                /* 0: unknown */
        ucs_memory_type_t mem_type; /* CUDA or CUDA_MANAGED */
    } mem_type;
} ucm_event_t;

/** Settings. Members without a comment have no effect. */
typedef struct ucm_global_config {
    ucs_log_level_t log_level;
    int enable_events;                   /* 0: handlers are refused */
    ucm_mmap_hook_mode_t mmap_hook_mode; /* NONE: the C library is left alone */
    int enable_malloc_hooks;
    int enable_malloc_reloc;
    int cuda_hook_modes; /* UCS_BIT(ucm_mmap_hook_mode_t); neither RELOC nor BISTRO: the CUDA driver
                            is left alone */
    int enable_dynamic_mmap_thresh;
    size_t alloc_alignment;
    int dlopen_process_rpath;
    int module_unload_prevent_mode; /* ucm_module_unload_prevent_mode_t */
} ucm_global_config_t;

/** The settings. They may be changed before the first call; prefer ucm_set_global_opts. */
extern ucm_global_config_t ucm_global_opts;

/** Replaces the settings. In newer versions the structure is longer; its rest is not read. */
void ucm_set_global_opts(const ucm_global_config_t* ucm_opts);

/**
 * Handler of an event. Runs in the thread that changes memory, possibly inside an allocator: it
 * must not allocate, nor wait for a thread that does. It may report events, and set and unset
 * handlers. It is undefined whether a handler that it sets is called for the current event, and no
 * function is replaced for such a handler. It must not call ucm_test_events and
 * ucm_test_external_events.
 */
typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type, ucm_event_t* event, void* arg);

/**
 * Adds a handler. The same callback may be added several times.
 *
 * @param events    ucm_event_type_t bits, and flags. A handler without kinds is accepted and never
 *                  called.
 * @param priority  handlers run in ascending order, those of one priority in the order added.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if one of the events is neither declared external nor
 *         detectable (not with UCM_EVENT_FLAG_NO_INSTALL), or if events are not enabled. That is
 *         always so for UCM_EVENT_SBRK, whose calls are detected as UCM_EVENT_BRK, and while the
 *         CUDA driver is not loaded for memory of GPUs. UCS_ERR_INVALID_PARAM if the callback is
 *         null or a bit is not one of ucm_event_type_t; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucm_set_event_handler(int events, int priority, ucm_event_callback_t cb, void* arg);

/**
 * Removes events from handlers with this callback and argument. The call waits until no such
 * handler runs. A handler that calls this does not wait for handlers in other threads.
 */
void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void* arg);

/** Declares that the caller reports all events of these kinds from now on. */
void ucm_set_external_event(int events);

/** Withdraws the declaration. */
void ucm_unset_external_event(int events);

/**
 * Checks that the events arrive for which this library replaced functions. The call causes the
 * events with memory of its own.
 *
 * @param events  ucm_event_type_t bits. Kinds for which no function was replaced are ignored:
 *                declared kinds belong to ucm_test_external_events, and the others have no
 *                handler.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if a kind was promised to a handler and does not arrive.
 */
ucs_status_t ucm_test_events(int events);

/**
 * Checks that the sources of declared events report them. The call causes the events with memory of
 * its own, except events of the program break.
 *
 * @param events  ucm_event_type_t bits. Undeclared kinds are ignored.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if a declared kind does not arrive.
 */
ucs_status_t ucm_test_external_events(int events);

/** Notifies handlers that pages were mapped. */
void ucm_vm_mmap(void* addr, size_t length);

/** Notifies handlers that pages are about to be unmapped or to lose their contents. */
void ucm_vm_munmap(void* addr, size_t length);

/* mremap has a fifth argument, the new address, with MREMAP_FIXED or MREMAP_DONTUNMAP in flags. */

/* The system calls, without any event. Arguments, results and errno as usual. */
void* ucm_orig_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset);
int ucm_orig_munmap(void* addr, size_t length);
void* ucm_orig_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...);
void* ucm_orig_shmat(int shmid, const void* shmaddr, int shmflg);
int ucm_orig_shmdt(const void* shmaddr);
void* ucm_orig_sbrk(intptr_t increment);
int ucm_orig_brk(void* addr);
int ucm_orig_madvise(void* addr, size_t length, int advice);

/* The system calls, with their events. Arguments, results and errno as usual. */
void* ucm_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset);
int ucm_munmap(void* addr, size_t length);
void* ucm_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...);
void* ucm_shmat(int shmid, const void* shmaddr, int shmflg);
int ucm_shmdt(const void* shmaddr);
void* ucm_sbrk(intptr_t increment);
int ucm_brk(void* addr);
int ucm_madvise(void* addr, size_t length, int advice);

/**
 * Opens a library by dlopen. Its mappings are not reported. A name without a slash is searched by
 * the rules for this library: the caller's own run path is not used.
 */
void* ucm_dlopen(const char* filename, int flag);

END_C_DECLS

#endif
