// Notifies objects in the child of a fork.
#pragma once

#include "ucs/datastruct/intrusive.hpp"

namespace ucs::sys {

// A member of an object. In the child of a fork it calls the object's function before fork()
// returns. The child has only the thread that forked, and locks of other threads stay locked, so
// the object must reinitialise its locks. Any thread.
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
