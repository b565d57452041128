#include "ucp/mem/rkey.hpp"

#include <tuple>

namespace ucp::mem {

int rkey::compare(const rkey& other) const noexcept {
    const auto all = [](const rkey& key) {
        return std::make_tuple(key.owner_.id, key.owner_.secret, key.base_, key.length_,
                               key.allowed_);
    };
    const auto order = all(*this) <=> all(other);
    return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

}  // namespace ucp::mem
