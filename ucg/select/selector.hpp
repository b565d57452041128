// Which algorithm serves a call.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/select/rules.hpp"
#include "ucs/type/result.hpp"

namespace ucg::select {

// The name of the node's engine among the algorithms.
inline constexpr const char* shared_memory = "shared_memory";

struct choice {
    const schedule::algorithm* by = nullptr;  // null: the node's engine
    std::string reason;                       // one line

    [[nodiscard]] const char* name() const noexcept {
        return by == nullptr ? shared_memory : by->name;
    }
};

// What is asked for, the same on every rank.
struct question {
    const schedule::call& what;
    const schedule::shape& of;
    const schedule::link_cost& link;
    bool deterministic = false;
    // The group is one node and its engine can do this. It reduces in an order of its own, so it
    // does not serve deterministic calls.
    bool engine = false;
    std::string_view wanted = {};  // by the program: this or nothing
};

// Immutable; any thread.
class selector {
public:
    // The texts of the user's rules, by collective. UCS_ERR_INVALID_PARAM, and a line in the log.
    static ucs::result<selector> make(
        const std::array<std::string, schedule::collective_count>& texts);

    // In this order: what the program wants; what the user's rules say, where it fits; the engine;
    // the cheapest by prediction. UCS_ERR_NO_ELEM: what the program wants is not there, or does not
    // fit.
    [[nodiscard]] ucs::result<choice> choose(const question& what) const;

private:
    std::array<rules, schedule::collective_count> rules_;
};

}  // namespace ucg::select
