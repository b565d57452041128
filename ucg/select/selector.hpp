// Choice of the algorithm that serves a call.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/select/rules.hpp"
#include "ucs/type/result.hpp"

namespace ucg::select {

struct choice {
    const schedule::algorithm* algorithm = nullptr;
    std::string reason;  // one line

    [[nodiscard]] bool is_engine() const noexcept {
        return algorithm != nullptr && has(algorithm->needs, schedule::condition::engine);
    }
};

// The call to choose for; the same on every rank.
struct query {
    const schedule::call& call;
    const schedule::shape& shape;
    const schedule::link_cost& link;
    bool deterministic = false;
    std::string_view wanted = {};  // algorithm that the program requires
};

// Immutable; any thread.
class selector {
public:
    // Parses the user's rules, by collective. Returns UCS_ERR_INVALID_PARAM, with a line in the
    // log, if a text is malformed.
    static ucs::result<selector> make(
        const std::array<std::string, schedule::collective_count>& texts);

    // Chooses, in this order: the algorithm that the program requires; the one of the user's rules,
    // if it fits; the cheapest by prediction. Returns UCS_ERR_NO_ELEM if the required
    // algorithm does not exist or does not fit.
    [[nodiscard]] ucs::result<choice> choose(const query& query) const;

private:
    std::array<rules, schedule::collective_count> rules_;
};

}  // namespace ucg::select
