// What a registration cache shows of itself.
#include <bit>

#include "ucs/memory/registration_cache.hpp"

namespace ucs::memory {
namespace {

std::string line_of(std::size_t value) {
    return std::to_string(value) + "\n";
}

std::string limit_line(std::size_t value) {
    return value == registration_cache::unlimited ? "inf\n" : line_of(value);
}

}  // namespace

void registration_cache::describe(vfs::directory& into) const {
    into.file("mode", [this] {
        return std::string(caching_ ? "cache\n" : "none: registers for each use\n");
    });
    into.file("regions", [this] { return line_of(regions()); });
    into.file("bytes", [this] { return line_of(bytes()); });
    into.file("max_regions", [this] { return limit_line(settings_.max_regions); });
    into.file("max_bytes", [this] { return limit_line(settings_.max_bytes); });
    into.file("sizes", [this] { return sizes(); });
    into.folder("counters", [this](vfs::directory& folder) { counters_.describe(folder); });
}

// A line per power of two: the smallest size, regions, those of them in use, bytes.
std::string registration_cache::sizes() const {
    struct class_of_size {
        std::size_t regions = 0;
        std::size_t used = 0;
        std::size_t bytes = 0;
    };
    std::array<class_of_size, 64> classes;
    {
        const std::lock_guard guard(lock_);  // nothing is allocated in here
        set_.for_each([&](const region& one) {
            auto& its = classes[static_cast<std::size_t>(std::bit_width(one.range.size())) - 1];
            ++its.regions;
            its.used += one.users != 0 ? 1 : 0;
            its.bytes += one.range.size();
        });
    }
    std::string text;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const class_of_size& its = classes[i];
        if (its.regions == 0) continue;
        text += std::to_string(std::size_t{1} << i) + ": " + std::to_string(its.regions) +
                " regions, " + std::to_string(its.used) + " in use, " + std::to_string(its.bytes) +
                " bytes\n";
    }
    return text;
}

}  // namespace ucs::memory
