// The one list of the option tables of this layer, and the options of logging (UCX_LOG_*), because
// ucs/log cannot use ucs/config.
#include <array>
#include <string>

#include "ucs/config/general.hpp"
#include "ucs/config/option.hpp"
#include "ucs/config/source.hpp"
#include "ucs/log/level.hpp"
#include "ucs/log/settings.hpp"
#include "ucs/memory/event_settings.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/vfs/settings.hpp"

namespace ucs::log {

// The text of a level_map, checked when it is read.
struct level_text {
    std::string text = "warn";
};

// Fields of the table; read_settings() turns them into `settings`.
struct options {
    level_text levels;
    std::string file;
    config::memunits file_size{config::memunits::inf};
    unsigned backups = 0;
    unsigned repeats = 8;

    static const config::table& table();
};

}  // namespace ucs::log

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucs::log::level_text>();

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucs::log::level_text>() {
    static constexpr value_type type{
        "a level (fatal error warn diag info debug trace req data async func poll), or "
        "COMPONENT:LEVEL, several separated by commas",
        [](std::string_view text, void* field) {
            if (!log::level_map::parse(text)) return UCS_ERR_INVALID_PARAM;
            static_cast<log::level_text*>(field)->text = text;
            return UCS_OK;
        },
        [](const void* field) { return static_cast<const log::level_text*>(field)->text; }};
    return type;
}

namespace ucs::log {

const config::table& options::table() {
    using config::make_option;
    static const config::table all{
        "Logging",
        {
            make_option<&options::levels>(
                "LOG_LEVEL", "warn",
                "Messages of this level and the more severe ones are written. The levels are\n"
                "fatal, error, warn, diag, info, debug, trace, req, data, async, func and poll.\n"
                "Components can have levels of their own: warn,ucp.wireup:debug,uct.tcp:trace."),
            make_option<&options::file>(
                "LOG_FILE", "",
                "Where messages go: a file name, or stdout (also written -) or stderr. Empty "
                "means\n"
                "stderr. In a file name %h stands for the host, %p for the process id, %e for the\n"
                "name of the executable, %t for the time in seconds and %% for a percent sign."),
            make_option<&options::file_size>(
                "LOG_FILE_SIZE", "inf", "Size at which a log file is closed and a new one started.",
                config::at_least("1")),
            make_option<&options::backups>(
                "LOG_FILE_ROTATE", "0",
                "How many full log files are kept beside the current one, as FILE.1, FILE.2 and\n"
                "so on, the newest first.",
                config::between("0", "1000").or_limited()),
            make_option<&options::repeats>("LOG_REPEATS", "8",
                                           "How often a kind of warning or error is written; "
                                           "after that only the 10th, 100th,\n"
                                           "1000th and so on, with the count. inf writes all.",
                                           config::at_least("1")),
        }};
    return all;
}

settings read_settings() {
    options values;
    if (const auto from = config::source::read("", "")) {
        (void)config::load(&values, options::table(), *from);
    }
    return {values.levels.text, values.file, values.file_size.bytes, values.backups,
            values.repeats};
}

}  // namespace ucs::log

namespace ucs::config {

std::span<const table* const> general_tables() {
    static const std::array<const table*, 5> tables{
        &general_settings::options(), &log::options::table(), &memory::event_settings::options(),
        &security::job_key_settings::options(), &vfs::settings::options()};
    return tables;
}

}  // namespace ucs::config
