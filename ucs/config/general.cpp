#include "ucs/config/general.hpp"

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

}  // namespace ucs::config
