#include "tools/vfs/listening_names.hpp"

#include <algorithm>
#include <sstream>

namespace tools::vfs {

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
