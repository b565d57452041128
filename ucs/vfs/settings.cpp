#include "ucs/vfs/settings.hpp"

namespace ucs::vfs {

using config::make_option;

const config::table& settings::options() {
    static const config::table options{
        "Object tree",
        {
            make_option<&settings::module_dir>(
                "MODULE_DIR", "",
                "The folder with the loadable modules. Empty: hawser/ beside the library."),
            make_option<&settings::enable>(
                "VFS_ENABLE", "y",
                "Let ucx_vfs show the objects of this process as files. It costs a descriptor per\n"
                "worker, and a thread only while ucx_vfs runs."),
            make_option<&settings::name>(
                "VFS_SOCK_PATH", "",
                "The name under which ucx_vfs and processes of the same user find each other; the\n"
                "same text on both sides. Any text will do: the sockets are in no file system."),
        }};
    return options;
}

}  // namespace ucs::vfs
