// Settings of logging, and functions that change them at run time.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "ucs/log/log.hpp"
#include "ucs/type/status.h"

namespace ucs::log {

// The values of the options UCX_LOG_* (ucs/settings/general_tables.cpp).
struct settings {
    std::string levels = "warn";  // the text of a level_map
    std::string file;
    std::size_t file_size = std::numeric_limits<std::size_t>::max();
    unsigned backups = 0;
    unsigned repeats = 8;
};

// Reads the settings from the environment and ucx.conf; the first message calls it. Defined in
// ucs/settings, because options need ucs/config, which logs itself.
settings read_settings();

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
