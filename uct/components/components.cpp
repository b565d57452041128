#include "uct/components/components.hpp"

#include <array>

#include "uct/ib/rc/verbs/component.hpp"
#include "uct/ib/ud/verbs/component.hpp"
#include "uct/self/self.hpp"
#include "uct/sm/cma/cma_component.hpp"
#include "uct/sm/posix/posix_component.hpp"
#include "uct/tcp/tcp.hpp"

namespace uct {

std::span<const component* const> builtin_components() noexcept {
    static const std::array<const component*, 6> all{
        &self_component(),     &posix::posix_component(), &cma::cma_component(),
        &rc_verbs_component(), &ud_verbs_component(),     &tcp_component(),
    };
    return all;
}

}  // namespace uct
