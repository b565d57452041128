#include "ucs/config/general.hpp"

#include <array>

#include "ucs/log/settings.hpp"
#include "ucs/memory/event_settings.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/vfs/settings.hpp"

namespace ucs::config {

const table& general_settings::options() {
    static const table options{
        "Configuration",
        {
            make_option<&general_settings::warn_unused>(
                "WARN_UNUSED_ENV_VARS", "y",
                "Warn of UCX_ variables that no part of the library knows, with the most similar\n"
                "known name."),
            make_option<&general_settings::config_dir>(
                "CONFIG_DIR", "",
                "A folder whose ucx.conf is read after those of the installation and of /etc/ucx.\n"
                "Only the environment variable has an effect."),
        }};
    return options;
}

std::span<const table* const> general_tables() {
    static const std::array<const table*, 5> tables{
        &general_settings::options(), &log::settings::options(), &memory::event_settings::options(),
        &security::job_key_settings::options(), &vfs::settings::options()};
    return tables;
}

}  // namespace ucs::config
