// Options of logging, and changing them at run time.
#pragma once

#include <string>
#include <string_view>

#include "ucs/config/option.hpp"
#include "ucs/log/log.hpp"

namespace ucs::log {

// The text of a level_map, checked when it is read.
struct level_text {
    std::string text = "warn";
};

// UCX_LOG_*: read from the environment and ucx.conf with the first message.
struct settings {
    level_text levels;
    std::string file;
    config::memunits file_size{config::memunits::inf};
    unsigned backups = 0;
    unsigned repeats = 8;

    static const config::table& options();
};

// Puts settings in force: levels now, the file with the next message. A file that cannot be
// opened is reported once on the standard error, which then takes the messages. Any thread.
ucs_status_t configure(const settings& wanted);

// Changes the levels only: "info" or "warn,uct.tcp:trace". Any thread.
ucs_status_t set_level(std::string_view levels);

// The levels in force, in the form of set_level. Any thread.
[[nodiscard]] std::string current_levels();

// Takes messages instead of the configured output while it is installed (nullptr: none), and counts
// repeated lines from the start. For tests: install before and remove after all threads that log.
class sink {
public:
    virtual void message(const component& source, level severity, std::string_view text) = 0;

protected:
    ~sink() = default;
};
void set_sink(sink* taker) noexcept;

}  // namespace ucs::log

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucs::log::level_text>();
