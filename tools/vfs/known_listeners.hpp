// Finds the listening sockets, and selects those to which the daemon still has to connect.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tools::vfs {

// The names of listeners that need no further connection. Any user may listen under thousands of
// names that look like those of this user's processes, so both the connections per poll and the
// stored foreign names are limited.
class known_listeners {
public:
    static constexpr std::size_t most_calls = 1024;
    static constexpr std::size_t most_foreign = 16384;

    // Forgets names that are not in `listening`, and returns the names to connect to: at most
    // most_calls, chosen at random, so that foreign names cannot exclude an own one for ever.
    // `connected`: names of connected processes.
    [[nodiscard]] std::vector<std::string> choose(std::vector<std::string> listening,
                                                  std::vector<std::string> connected);

    // Stores the name of another user's process. If there are too many, the name is not stored, and
    // will be chosen again.
    void add_foreign(const std::string& name);
    // Stores a name of a process of this user that needs no connection.
    void add_own(const std::string& name, pid_t process) { own_[name] = process; }
    // Forgets the names of a process of this user, so that choose() may return another name of it.
    void forget(pid_t process);

private:
    std::map<std::string, pid_t> own_;
    std::set<std::string> foreign_;
    std::minstd_rand random_{std::random_device{}()};
};

// Returns the abstract names with this prefix at which a socket listens. `table`: the text of
// /proc/net/unix.
[[nodiscard]] std::vector<std::string> listening_names(const std::string& table,
                                                       const std::string& prefix);

}  // namespace tools::vfs
