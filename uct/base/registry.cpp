#include "uct/base/registry.hpp"

#include <array>

#include "uct/self/self.hpp"
#include "uct/sm/posix/posix_component.hpp"

namespace uct {

std::span<const component* const> builtin_components() noexcept {
    static const std::array<const component*, 2> all{
        &self_component(),
        &posix::posix_component(),
    };
    return all;
}

}  // namespace uct
