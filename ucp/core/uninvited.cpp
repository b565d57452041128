#include "ucp/core/uninvited.hpp"

#include "ucs/net/admission.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

uninvited_limits uninvited_limits::of_process() noexcept {
    uninvited_limits limits;
    limits.most = most_in(ucs::sys::peer_memory_limit());
    limits.most_if_scarce = ucs::net::descriptor_share(8, limits.most_if_scarce, limits.most);
    return limits;
}

void uninvited_peers::part::change(std::size_t endpoints, bool is_stranger) noexcept {
    endpoints_ = endpoints;
    is_stranger_ = is_stranger;
    all_.file(*this);
}

void uninvited_peers::part::set_descriptor(bool uses_descriptor) noexcept {
    if (uses_descriptor == uses_descriptor_) return;
    all_.with_descriptor_ -= counted_descriptors();
    uses_descriptor_ = uses_descriptor;
    all_.with_descriptor_ += counted_descriptors();
    all_.file(*this);
}

void uninvited_peers::file(part& changed) noexcept {
    const std::size_t weight =
        std::max<std::size_t>(changed.endpoints_, changed.is_stranger_ ? 1 : 0);
    size_ += weight - changed.weight_;
    with_descriptor_ -= changed.counted_descriptors();
    changed.weight_ = weight;
    with_descriptor_ += changed.counted_descriptors();
    const std::size_t kind = changed.uses_descriptor_ ? kind_with_descriptor : kind_without;
    list* into = nullptr;
    if (weight > 0)
        into = changed.has_sent_ || weight >= yields_before_silent
                   ? &by_weight_[kind][weight_class(weight)]
                   : &silent_[kind];
    if (into == changed.list_) return;
    changed.hook_.unlink();
    changed.list_ = into;
    if (into != nullptr) into->push_back(changed);
}

void uninvited_peers::leave(part& changed) noexcept {
    changed.endpoints_ = 0;
    changed.is_stranger_ = false;
    file(changed);
}

uninvited_peers::list* uninvited_peers::list_of_most(bool only_with_descriptor) noexcept {
    for (std::size_t heavy = weight_classes; heavy > 0; --heavy) {
        list& with = by_weight_[kind_with_descriptor][heavy - 1];
        if (!with.empty()) return &with;
        list& without = by_weight_[kind_without][heavy - 1];
        if (!only_with_descriptor && !without.empty()) return &without;
    }
    return nullptr;
}

}  // namespace ucp
