// Objects that must know that they are now in the child of a fork.
#pragma once

#include "ucs/datastruct/intrusive.hpp"

namespace ucs::sys {

// Tells the object that it is a part of, in the child, before fork returns. Only the thread that
// forked is there then, and locks of others stay locked: the object puts its own into their first
// state. Any thread.
class fork_watch {
public:
    using function = void (*)(void* object) noexcept;

    fork_watch(function in_child, void* object);
    ~fork_watch();
    fork_watch(const fork_watch&) = delete;
    fork_watch& operator=(const fork_watch&) = delete;

private:
    friend struct fork_watches;

    datastruct::list_hook in_list_;
    function in_child_;
    void* object_;
};

}  // namespace ucs::sys
