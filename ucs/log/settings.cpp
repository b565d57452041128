#include "ucs/log/settings.hpp"

namespace ucs::log {

const config::table& settings::options() {
    using config::make_option;
    static const config::table table{
        "Logging",
        {
            make_option<&settings::levels>(
                "LOG_LEVEL", "warn",
                "Messages of this level and the more severe ones are written. The levels are\n"
                "fatal, error, warn, diag, info, debug, trace, req, data, async, func and poll.\n"
                "Components can have levels of their own: warn,ucp.wireup:debug,uct.tcp:trace."),
            make_option<&settings::file>(
                "LOG_FILE", "",
                "Where messages go: a file name, or stdout or stderr, or empty for the standard\n"
                "output. In a file name %h stands for the host, %p for the process id, %e for\n"
                "the name of the executable, %t for the time in seconds, %% for a percent sign."),
            make_option<&settings::file_size>(
                "LOG_FILE_SIZE", "inf",
                "Size at which a log file is closed and a new one started."),
            make_option<&settings::backups>(
                "LOG_FILE_ROTATE", "0",
                "How many full log files are kept beside the current one, as FILE.1, FILE.2 and\n"
                "so on, the newest first."),
        }};
    return table;
}

}  // namespace ucs::log
