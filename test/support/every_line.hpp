// Unlimited log lines, for tests that count them.
#pragma once

#include <limits>

#include "ucs/log/settings.hpp"

namespace test {

// During its lifetime every repeated warning and error is logged, as with UCX_LOG_REPEATS=inf: for
// tests that count the causes of a line.
class every_line {
public:
    every_line() {
        ucs::log::settings wanted;
        wanted.repeats = std::numeric_limits<decltype(wanted.repeats)>::max();
        static_cast<void>(ucs::log::configure(wanted));
    }
    ~every_line() { static_cast<void>(ucs::log::configure({})); }
    every_line(const every_line&) = delete;
    every_line& operator=(const every_line&) = delete;
};

}  // namespace test
