// Settings, and ucm_dlopen.
#include <dlfcn.h>

#include "ucm/api/ucm.h"

ucm_global_config_t ucm_global_opts = {
    .log_level = UCS_LOG_LEVEL_WARN,
    .enable_events = 1,
    .mmap_hook_mode = UCM_MMAP_HOOK_BISTRO,
    .enable_malloc_hooks = 0,
    .enable_malloc_reloc = 0,
    .cuda_hook_modes = UCS_BIT(UCM_MMAP_HOOK_BISTRO),
    .enable_dynamic_mmap_thresh = 0,
    .alloc_alignment = 16,
    .dlopen_process_rpath = 0,
    .module_unload_prevent_mode = UCM_UNLOAD_PREVENT_MODE_LAZY,
};

void ucm_set_global_opts(const ucm_global_config_t* ucm_opts) {
    ucm_global_opts = *ucm_opts;
}

void* ucm_dlopen(const char* filename, int flag) {
    return dlopen(filename, flag);
}
