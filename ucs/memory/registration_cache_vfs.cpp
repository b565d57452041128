// The files of a registration cache in the object tree.
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

// One line per power of two: the smallest size, regions, regions in use, bytes.
std::string registration_cache::sizes() const {
    struct class_counts {
        std::size_t regions = 0;
        std::size_t used = 0;
        std::size_t bytes = 0;
    };
    std::array<class_counts, 64> classes;
    {
        const std::lock_guard guard(lock_);  // must not allocate under the lock
        set_.for_each([&](const region& one) {
            auto& size_class =
                classes[static_cast<std::size_t>(std::bit_width(one.range.size())) - 1];
            ++size_class.regions;
            size_class.used += one.users != 0 ? 1 : 0;
            size_class.bytes += one.range.size();
        });
    }
    std::string text;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const class_counts& size_class = classes[i];
        if (size_class.regions == 0) continue;
        text += std::to_string(std::size_t{1} << i) + ": " + std::to_string(size_class.regions) +
                " regions, " + std::to_string(size_class.used) + " in use, " +
                std::to_string(size_class.bytes) + " bytes\n";
    }
    return text;
}

}  // namespace ucs::memory
