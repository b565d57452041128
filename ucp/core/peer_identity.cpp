#include "ucp/core/peer_identity.hpp"

#include <algorithm>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucs/log/printable.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp {

bool peer_identity::is_self() const noexcept {
    return key_ == owner_.identity().public_half();
}

bool peer_identity::has_address(std::span<const std::byte> packed) const noexcept {
    return packed.size() >= packed_.size() &&
           std::ranges::equal(packed_, packed.first(packed_.size()));
}

// The address for other hosts has fewer interfaces than the full one. An address with an interface
// that is missing in the given one is no form of it: that interface may belong to another worker.
bool peer_identity::is_part_of(std::span<const std::byte> packed) const {
    const auto known = parse();
    const auto given = address::parse(packed);
    if (!known || !given || known->flags != given->flags || known->name != given->name)
        return false;
    return std::ranges::all_of(known->entries, [&given](const address::entry& each) {
        return std::ranges::find(given->entries, each) != given->entries.end();
    });
}

const ucs::security::key* peer_identity::shared_key() noexcept {
    if (shared_key_ != nullptr || packed_.empty()) return shared_key_.get();
    const bool has_memory = ucs::allocated([&] {
        if (const auto agreed = owner_.identity().agree(key_))
            shared_key_ = std::make_unique<ucs::security::key>(*agreed);
    });
    if (!has_memory) {
        ucs::log::error(wireup_log, "out of memory: no connection message to worker {:x} is proven",
                        uid_);
    }
    return shared_key_.get();
}

std::string peer_identity::worker_name() const {
    if (packed_.empty()) return "not known yet";
    const auto remote = parse();
    return remote ? ucs::log::printable(remote->name) : "unknown";
}

}  // namespace ucp
