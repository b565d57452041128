// Memory of one side that another side can access, by a key if the transport requires one.
#pragma once

#include <stdexcept>

#include "test/conformance/support/side.hpp"

namespace conformance {

class accessible_memory {
public:
    accessible_memory(side& owner, side& user, std::span<std::byte> block,
                      uct::memory_access allowed = uct::memory_access::change)
        : base_(reinterpret_cast<std::uint64_t>(block.data())) {
        if (!user.attr().keyed) return;
        auto made = owner.iface().domain()->share(block, allowed);
        if (!made) throw std::runtime_error("memory cannot be shared");
        owner_ = std::move(*made);
        auto found = user.iface().domain()->attach(owner_.key, allowed);
        if (!found) throw std::runtime_error("a key cannot be attached");
        there_ = std::move(*found);
    }

    [[nodiscard]] uct::remote_place at(std::uint64_t offset) const {
        return {base_ + offset, there_.get()};
    }
    // The owner stops sharing the memory.
    void withdraw() { owner_ = {}; }

private:
    const std::uint64_t base_;
    uct::shared_memory owner_;
    std::unique_ptr<uct::remote_memory> there_;
};

}  // namespace conformance
