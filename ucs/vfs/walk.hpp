// Path look-up in the object tree, from one object down.
#pragma once

#include <functional>
#include <optional>

#include "ucs/vfs/query.hpp"

namespace ucs::vfs {

using steps = std::vector<std::string>;
[[nodiscard]] steps split_path(std::string_view path);

// The result of a path look-up.
struct walk_result {
    directory::entry target;
    steps position;             // path of `target`, with links resolved
    std::optional<steps> rest;  // if set, the mailbox of `target` resolves the rest of the path
};

// Resolves paths from a folder. `more` adds further entries to the folder at a position. Callers
// must hold the contexts of the objects on the path.
class walker {
public:
    using adder = std::function<void(directory& into, const steps& position)>;

    explicit walker(directory::filler top, adder more = {});

    // Resolves a path; returns nullopt if it does not exist. Follows links; a final link only if
    // `follow_last`.
    [[nodiscard]] std::optional<walk_result> to(steps path, bool follow_last) const;
    // Answers a query for a target that no mailbox owns.
    [[nodiscard]] answer respond(const walk_result& where, const query& request) const;

private:
    void fill(directory& into, const directory::entry& folder, const steps& position) const;

    directory::entry top_;
    adder more_;
};

// Answers a query about the objects below `top`; the owner of `top` calls it.
[[nodiscard]] answer answer_below(const object& top, const query& request);

}  // namespace ucs::vfs
