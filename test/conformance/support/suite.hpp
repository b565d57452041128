// How a conformance case is written: CONFORMANCE_CASE(name, "what holds") { ... net ... }
#pragma once

#include <catch2/catch.hpp>

#include "test/conformance/support/sender.hpp"

namespace conformance {

// A case of the suite. main registers each with Catch2 once per transport.
struct suite_case {
    const char* text;
    void (*body)(network& net);
};
[[nodiscard]] std::vector<suite_case>& suite();

struct add_case {
    add_case(const char* text, void (*body)(network&)) { suite().push_back({text, body}); }
};

}  // namespace conformance

#define CONFORMANCE_CASE(name, text)                             \
    static void name(::conformance::network& net);               \
    static const ::conformance::add_case add_##name{text, name}; \
    static void name(::conformance::network& net)
