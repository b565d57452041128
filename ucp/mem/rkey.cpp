#include "ucp/mem/rkey.hpp"

#include <tuple>

namespace ucp::mem {

int rkey::compare(const rkey& other) const noexcept {
    const auto all = [](const rkey& of) {
        return std::make_tuple(of.owner_.id, of.owner_.secret, of.base_, of.length_, of.allowed_);
    };
    const auto order = all(*this) <=> all(other);
    return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

}  // namespace ucp::mem
