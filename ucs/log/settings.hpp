// Options of logging, and functions that change them at run time.
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

// The options UCX_LOG_*, which the first message reads from the environment and ucx.conf.
struct settings {
    level_text levels;
    std::string file;
    config::memunits file_size{config::memunits::inf};
    unsigned backups = 0;
    unsigned repeats = 8;

    static const config::table& options();
};

// Applies settings: the levels now, the file with the next message. A file that cannot be opened is
// reported once on the standard error, which then takes the messages. Any thread.
ucs_status_t configure(const settings& new_settings);

// Changes the levels only: "info" or "warn,uct.tcp:trace". Any thread.
ucs_status_t set_level(std::string_view levels);

// Returns the current levels, in the form of set_level(). Any thread.
[[nodiscard]] std::string current_levels();

// Receives messages instead of the configured output while it is installed (nullptr: none).
// Installing a sink resets the counts of repeated lines. For tests: install it before the threads
// that log start, and remove it after they end.
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
