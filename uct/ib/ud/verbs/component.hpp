// The transport ud_verbs: unreliable datagrams on any RDMA device.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& ud_verbs_component() noexcept;

}  // namespace uct
