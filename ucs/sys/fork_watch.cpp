#include "ucs/sys/fork_watch.hpp"

#include <pthread.h>

#include <mutex>

namespace ucs::sys {

// All objects to notify after a fork. Never destroyed: a fork may happen while the process ends.
struct fork_watches {
    using list = datastruct::list<fork_watch, &fork_watch::in_list_>;

    static fork_watches& all() {
        static fork_watches& the_only = *new fork_watches;
        return the_only;
    }

    void notify_all() noexcept {
        for (fork_watch& one : members)
            one.in_child_(one.object_);
    }

    std::mutex lock;
    list members;

private:
    fork_watches() {
        // Hold the lock during the fork, so that the child finds a consistent list and a lock that
        // its own thread holds. A thread that holds this lock never waits for anything else.
        pthread_atfork([] { all().lock.lock(); }, [] { all().lock.unlock(); },
                       [] {
                           all().notify_all();
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
