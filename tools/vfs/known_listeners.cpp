#include "tools/vfs/known_listeners.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tools::vfs {

std::vector<std::string> known_listeners::choose(std::vector<std::string> listening,
                                                 std::vector<std::string> connected) {
    std::ranges::sort(listening);
    std::ranges::sort(connected);
    std::erase_if(
        own_, [&](const auto& each) { return !std::ranges::binary_search(listening, each.first); });
    std::erase_if(foreign_, [&](const std::string& each) {
        return !std::ranges::binary_search(listening, each);
    });
    std::erase_if(listening, [&](const std::string& each) {
        return each.ends_with("-daemon") || own_.contains(each) || foreign_.contains(each) ||
               std::ranges::binary_search(connected, each);
    });
    if (listening.size() <= most_calls) return listening;
    std::vector<std::string> chosen;
    std::ranges::sample(listening, std::back_inserter(chosen), most_calls, random_);
    return chosen;
}

void known_listeners::add_foreign(const std::string& name) {
    if (foreign_.size() < most_foreign) foreign_.insert(name);
}

void known_listeners::forget(pid_t process) {
    std::erase_if(own_, [process](const auto& each) { return each.second == process; });
}

namespace {

// Returns whether the character occurs in names of the library's sockets. Any user may listen at a
// name with the same prefix, and the rest of the name is printed on a terminal.
bool is_valid(char each) noexcept {
    return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || each == '-';
}

}  // namespace

std::vector<std::string> listening_names(const std::string& table, const std::string& prefix) {
    constexpr unsigned long listens = 0x10000;  // __SO_ACCEPTCON
    std::vector<std::string> names;
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);  // skip the titles
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string number;
        std::string references;
        std::string protocol;
        unsigned long flags = 0;
        std::string type;
        std::string state;
        std::string inode;
        std::string name;
        words >> number >> references >> protocol >> std::hex >> flags >> type >> state >> inode >>
            name;
        if (!words || (flags & listens) == 0 || !name.starts_with("@" + prefix)) continue;
        if (!std::all_of(name.begin() + 1, name.end(), is_valid)) continue;
        names.push_back(name.substr(1));
    }
    return names;
}

}  // namespace tools::vfs
