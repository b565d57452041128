// How a conformance case is written:
// CONFORMANCE_CASE(name, "what holds", needs::...) { ... a.connect(b) ... }
#pragma once

#include "test/conformance/support/sender.hpp"

namespace conformance {

// Features that a case requires; it is registered for the transports that have all of them.
namespace needs {
enum : unsigned {
    nothing = 0,
    two_sides = 1U << 0,        // a worker reaches others
    messages = 1U << 1,         // any active message operation
    copied_messages = 1U << 2,  // am_short or am_bcopy
    am_short = 1U << 3,
    am_bcopy = 1U << 4,
    am_zcopy = 1U << 5,
    get_zcopy = 1U << 6,
    put_zcopy = 1U << 7,
    landing = 1U << 8,
    refused_memory = 1U << 9,   // environment::can_refuse_rma
    checked_memory = 1U << 10,  // environment::checks_remote_memory
    sleep = 1U << 11,           // iface::arm, so time is real
    atomics = 1U << 12,
    put_short = 1U << 13,
    put_bcopy = 1U << 14,
    get_bcopy = 1U << 15,
    atomics_of_processor = 1U << 16,
    keyed = 1U << 17,  // remote memory is reached by keys that the owner's device checks
};
}

// Returns the features of the transport of an environment, from the flags of an interface.
[[nodiscard]] unsigned offers(environment& where);

// A case of the suite.
struct suite_case {
    const char* text;
    unsigned required;
    void (*body)(network& net);
};
[[nodiscard]] std::vector<suite_case>& suite();

// The names that a case can use.
struct case_base {
    explicit case_base(network& all) : net(all) {}

    network& net;
    side& a = net.at(0);
    side& b = net.at(1);
    const std::vector<uct::op> ops = message_ops(a.attr());
    sender out{net};
};

struct add_case {
    add_case(const char* text, unsigned required, void (*body)(network&)) {
        suite().push_back({text, required, body});
    }
};

}  // namespace conformance

#define CONFORMANCE_CASE(name, text, required)                                 \
    namespace {                                                                \
    struct name final : ::conformance::case_base {                             \
        using case_base::case_base;                                            \
        void run();                                                            \
    };                                                                         \
    }                                                                          \
    static const ::conformance::add_case add_##name{                           \
        text, required, [](::conformance::network& all) { name(all).run(); }}; \
    void name::run()
