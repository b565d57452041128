#include "ucs/memory/dmabuf.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace ucs::memory {
namespace {

struct source_list {
    std::mutex lock;
    std::vector<dmabuf_source*> sources;
    std::atomic<bool> any = false;
};

// Never destroyed: threads may register memory while the process ends.
source_list& all() {
    static auto& list = *new source_list;
    return list;
}

}  // namespace

void add_dmabuf_source(dmabuf_source& source) {
    source_list& list = all();
    const std::lock_guard guard(list.lock);
    list.sources.push_back(&source);
    list.any = true;
}

void remove_dmabuf_source(dmabuf_source& source) noexcept {
    source_list& list = all();
    const std::lock_guard guard(list.lock);
    std::erase(list.sources, &source);
    list.any = !list.sources.empty();
}

std::optional<dmabuf> find_dmabuf(const void* address, std::size_t length) noexcept {
    source_list& list = all();
    if (!list.any.load(std::memory_order_relaxed)) return std::nullopt;
    const std::lock_guard guard(list.lock);
    for (std::size_t i = list.sources.size(); i > 0; --i) {
        if (auto found = list.sources[i - 1]->find(address, length)) return found;
    }
    return std::nullopt;
}

}  // namespace ucs::memory
