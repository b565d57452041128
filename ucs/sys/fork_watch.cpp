#include "ucs/sys/fork_watch.hpp"

#include <pthread.h>

#include <mutex>

namespace ucs::sys {

// Everybody who is to be told. Never destroyed: a fork may come while the process ends.
struct fork_watches {
    using list = datastruct::list<fork_watch, &fork_watch::in_list_>;

    static fork_watches& all() {
        static fork_watches& the_only = *new fork_watches;
        return the_only;
    }

    void tell() noexcept {
        for (fork_watch& one : members)
            one.in_child_(one.object_);
    }

    std::mutex lock;
    list members;

private:
    fork_watches() {
        // Held over the fork, so that the child finds a whole list and a lock of its own thread.
        // Nobody waits for anything while holding it.
        pthread_atfork([] { all().lock.lock(); }, [] { all().lock.unlock(); },
                       [] {
                           all().tell();
                           all().lock.unlock();
                       });
    }
};

fork_watch::fork_watch(function in_child, void* object) : in_child_(in_child), object_(object) {
    fork_watches& all = fork_watches::all();
    const std::lock_guard guard(all.lock);
    all.members.push_back(*this);
}

fork_watch::~fork_watch() {
    fork_watches& all = fork_watches::all();
    const std::lock_guard guard(all.lock);
    all.members.erase(fork_watches::list::s_iterator_to(*this));
}

}  // namespace ucs::sys
