// Which of the listening sockets of this machine the daemon still has to call.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tools::vfs {

// Names of listeners that need no further call. Any user may listen under thousands of names that
// look like those of this user's processes, so both the calls of one look and the foreign names
// that are kept have a limit.
class known_listeners {
public:
    static constexpr std::size_t most_calls = 1024;
    static constexpr std::size_t most_foreign = 16384;

    // Takes the names that exist now, forgets all others, and returns those to call: at most
    // most_calls, by chance, so that no number of foreign names keeps an own one from its turn for
    // good. `connected`: names of processes with a connection.
    [[nodiscard]] std::vector<std::string> choose(std::vector<std::string> listening,
                                                  std::vector<std::string> connected);

    // Keeps the name of another user's process. When there are too many it is called again.
    void add_foreign(const std::string& name);
    // Keeps a name of a process of this user that needs no call.
    void add_own(const std::string& name, pid_t process) { own_[name] = process; }
    // Forgets the names of a process of this user: they may be called instead of the one that it
    // was called by.
    void forget(pid_t process);

private:
    std::map<std::string, pid_t> own_;
    std::set<std::string> foreign_;
    std::minstd_rand chance_{std::random_device{}()};
};

}  // namespace tools::vfs
