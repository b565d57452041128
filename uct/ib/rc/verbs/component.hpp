// The transport rc_verbs: reliable connections on any RDMA device.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& rc_verbs_component() noexcept;

}  // namespace uct
