#include "uct/ib/base/memory/registered_chunks.hpp"

#include <algorithm>

#include "ucs/topology/machine.hpp"
#include "ucs/type/allocated.hpp"

namespace uct::ib {

void* registered_chunks::allocate(std::size_t& size) noexcept {
    auto pages = ucs::memory::mapped::anonymous(size);
    if (!pages) return nullptr;
    ucs::topology::prefer_node(pages->data(), pages->size(), node_);
    auto region = on_.use_own(pages->data(), pages->size());
    if (!region) return nullptr;
    if (!ucs::allocated([&] { chunks_.push_back({std::move(*pages), std::move(*region)}); }))
        return nullptr;
    size = chunks_.back().pages.size();
    return chunks_.back().pages.data();
}

void registered_chunks::release(void* memory, std::size_t) noexcept {
    const auto found = std::find_if(chunks_.begin(), chunks_.end(),
                                    [&](const auto& each) { return each.pages.data() == memory; });
    if (found != chunks_.end()) chunks_.erase(found);
}

std::size_t registered_chunks::bytes() const noexcept {
    std::size_t sum = 0;
    for (const chunk& each : chunks_)
        sum += each.pages.size();
    return sum;
}

}  // namespace uct::ib
