#include "tools/perf/core/team.hpp"

#include <thread>

namespace tools::perf {

void run_team(unsigned size, stop_flag& stop, const std::function<void(unsigned)>& body) {
    std::mutex guard;
    std::exception_ptr first;
    const auto guarded = [&](unsigned index) {
        try {
            body(index);
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!first) first = std::current_exception();
            stop.request();
        }
    };
    std::vector<std::jthread> others;
    others.reserve(size - 1);
    for (unsigned index = 1; index < size; ++index)
        others.emplace_back(guarded, index);
    guarded(0);
    others.clear();
    if (first) std::rethrow_exception(first);
}

}  // namespace tools::perf
