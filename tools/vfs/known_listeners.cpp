#include "tools/vfs/known_listeners.hpp"

#include <algorithm>
#include <iterator>

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

}  // namespace tools::vfs
