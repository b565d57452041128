#include "ucs/config/general.hpp"

#include <array>

#include "ucs/log/settings.hpp"

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
            make_option<&general_settings::module_dir>(
                "MODULE_DIR", "",
                "The folder with the loadable modules. Empty: hawser/ beside the library."),
            make_option<&general_settings::vfs_enable>(
                "VFS_ENABLE", "y",
                "Let ucx_vfs show the objects of this process as files. It costs a descriptor per\n"
                "worker, and a thread only while ucx_vfs runs."),
            make_option<&general_settings::vfs_name>(
                "VFS_SOCK_PATH", "",
                "The name under which ucx_vfs and processes of the same user find each other; the\n"
                "same text on both sides. Any text will do: the sockets are in no file system."),
        }};
    return options;
}

std::span<const table* const> general_tables() {
    static const std::array<const table*, 2> tables{&general_settings::options(),
                                                    &log::settings::options()};
    return tables;
}

}  // namespace ucs::config
