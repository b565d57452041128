#include "ucs/memory/event_settings.hpp"

#include <mutex>

namespace ucs::memory {

inline constexpr config::enum_name<ucm_mmap_hook_mode_t> hook_mode_names[] = {
    {"none", UCM_MMAP_HOOK_NONE}, {"reloc", UCM_MMAP_HOOK_RELOC}, {"bistro", UCM_MMAP_HOOK_BISTRO}};

}  // namespace ucs::memory

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucm_mmap_hook_mode_t>() {
    return enum_type<ucs::memory::hook_mode_names>();
}

template<>
const ucs::config::value_type&
ucs::config::value_type_of<ucs::config::enum_set<ucm_mmap_hook_mode_t>>() {
    return enum_set_type<ucs::memory::hook_mode_names>();
}

namespace ucs::memory {

const config::table& event_settings::options() {
    using config::make_option;
    static const config::table options{
        "Memory events",
        {
            make_option<&event_settings::enable>(
                "MEM_EVENTS", "y",
                "Detect unmapped memory, for caches that keep memory registered with a device.\n"
                "Without it, memory is registered for each use. Applies to the whole process."),
            make_option<&event_settings::hook_mode>(
                "MEM_MMAP_HOOK_MODE", "bistro",
                "How unmapped memory is detected, once a cache needs it. bistro patches the code "
                "of\n"
                "the C library's functions; reloc is the same here; none leaves the C library "
                "unchanged,\n"
                "and other libraries must report the events (Open MPI does)."),
            make_option<&event_settings::cuda_hook_modes>(
                "MEM_CUDA_HOOK_MODE", "bistro",
                "How allocated and freed memory of GPUs is detected. bistro patches the code of "
                "the\n"
                "CUDA driver's functions; reloc is the same here; none leaves the driver "
                "unchanged."),
        }};
    return options;
}

ucs_status_t configure_events(const config::source& from) {
    const auto loaded = config::load<event_settings>(from);
    if (!loaded) return loaded.status();
    static std::mutex lock;
    const std::lock_guard guard(lock);
    // Set the members one by one: the structure of another libucm may be longer.
    if (from.find("MEM_EVENTS") != nullptr) ucm_global_opts.enable_events = loaded->enable ? 1 : 0;
    if (from.find("MEM_MMAP_HOOK_MODE") != nullptr) {
        ucm_global_opts.mmap_hook_mode = loaded->hook_mode;
    }
    if (from.find("MEM_CUDA_HOOK_MODE") != nullptr) {
        ucm_global_opts.cuda_hook_modes = static_cast<int>(loaded->cuda_hook_modes.bits);
    }
    return UCS_OK;
}

}  // namespace ucs::memory
