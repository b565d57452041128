// A fuzz target's log.
#pragma once

#include "ucs/log/settings.hpp"

namespace fuzz {

// While it lives, what the code under test says about its input goes nowhere: nearly every input
// has something wrong with it.
class silence final : public ucs::log::sink {
public:
    silence() { ucs::log::set_sink(this); }
    ~silence() { ucs::log::set_sink(nullptr); }
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;
    void message(const ucs::log::component&, ucs::log::level, std::string_view) override {}
};

}  // namespace fuzz
