// The one list of the option tables of this layer.
#include <array>

#include "ucs/config/general.hpp"
#include "ucs/memory/event_settings.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/settings/log_options.hpp"
#include "ucs/vfs/settings.hpp"

namespace ucs::config {

std::span<const table* const> general_tables() {
    static const std::array<const table*, 5> tables{
        &general_settings::options(), &log::options::table(), &memory::event_settings::options(),
        &security::job_key_settings::options(), &vfs::settings::options()};
    return tables;
}

}  // namespace ucs::config
