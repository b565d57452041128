// The walk along a path, from one object down.
#pragma once

#include <functional>
#include <optional>

#include "ucs/vfs/question.hpp"

namespace ucs::vfs {

using steps = std::vector<std::string>;
[[nodiscard]] steps split_path(std::string_view path);

// Where a walk ended.
struct place {
    directory::entry at;
    steps position;             // of `at`, without links
    std::optional<steps> rest;  // set: what lies behind `at` is its mailbox's to say
};

// Walks from a folder. `more` adds to the folder at a position what hangs there besides. Contexts:
// those of the objects that are met.
class walker {
public:
    using adder = std::function<void(directory& into, const steps& position)>;

    explicit walker(directory::filler top, adder more = {});

    // Nothing: there is no such path. Links are followed, but one at the end only if wanted.
    [[nodiscard]] std::optional<place> to(steps path, bool follow_last) const;
    // The answer where no mailbox is in the way.
    [[nodiscard]] answer respond(const place& where, const question& asked) const;

private:
    void fill(directory& into, const directory::entry& folder, const steps& position) const;

    directory::entry top_;
    adder more_;
};

// A whole question about what is below one object, for its owner.
[[nodiscard]] answer answer_below(const object& top, const question& asked);

}  // namespace ucs::vfs
