#include "ucs/memory/event_settings.hpp"

#include <mutex>

#include "ucs/config/enum_type.hpp"

namespace ucs::memory {

inline constexpr config::enum_name<ucm_mmap_hook_mode_t> hook_mode_names[] = {
    {"none", UCM_MMAP_HOOK_NONE}, {"reloc", UCM_MMAP_HOOK_RELOC}, {"bistro", UCM_MMAP_HOOK_BISTRO}};

}  // namespace ucs::memory

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucm_mmap_hook_mode_t>() {
    return enum_type<ucs::memory::hook_mode_names>();
}

namespace ucs::memory {

const config::table& event_settings::options() {
    using config::make_option;
    static const config::table options{
        "Memory events",
        {
            make_option<&event_settings::enable>(
                "MEM_EVENTS", "y",
                "Notice memory that goes away, for what keeps memory registered with a device.\n"
                "Without that, memory is registered for each use. For the whole process."),
            make_option<&event_settings::hook_mode>(
                "MEM_MMAP_HOOK_MODE", "bistro",
                "How it is noticed, once something needs it. bistro changes the code of the C\n"
                "library's functions; reloc is the same here; none leaves the C library alone, "
                "and\n"
                "others have to report (Open MPI does)."),
        }};
    return options;
}

ucs_status_t configure_events(const config::source& from) {
    const auto wanted = config::load<event_settings>(from);
    if (!wanted) return wanted.status();
    static std::mutex one_at_a_time;
    const std::lock_guard guard(one_at_a_time);
    // Member by member: another libucm has a longer structure.
    if (from.find("MEM_EVENTS") != nullptr) ucm_global_opts.enable_events = wanted->enable ? 1 : 0;
    if (from.find("MEM_MMAP_HOOK_MODE") != nullptr) {
        ucm_global_opts.mmap_hook_mode = wanted->hook_mode;
    }
    return UCS_OK;
}

}  // namespace ucs::memory
