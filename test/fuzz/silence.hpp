// Suppresses the log of a fuzz target.
#pragma once

#include "ucs/log/settings.hpp"

namespace fuzz {

// During its lifetime the log of the code under test is discarded, because nearly every input
// causes messages.
class silence final : public ucs::log::sink {
public:
    silence() { ucs::log::set_sink(this); }
    ~silence() { ucs::log::set_sink(nullptr); }
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;
    void message(const ucs::log::component&, ucs::log::level, std::string_view) override {}
};

}  // namespace fuzz
