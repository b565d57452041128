#include "uct/components/components.hpp"

#include <array>

#include "uct/base/builtin.hpp"

namespace uct {

std::span<const component* const> builtin_components() noexcept {
    static const std::array<const component*, 8> all{
        &self_component(),     &posix_component(), &cma_component(),       &rc_verbs_component(),
        &ud_verbs_component(), &tcp_component(),   &cuda_copy_component(), &cuda_ipc_component(),
    };
    return all;
}

}  // namespace uct
