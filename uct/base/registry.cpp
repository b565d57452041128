#include "uct/base/registry.hpp"

#include <array>

#include "uct/self/self.hpp"

namespace uct {

std::span<const component* const> builtin_components() noexcept {
    static const std::array<const component*, 1> all{
        &self_component(),
    };
    return all;
}

}  // namespace uct
