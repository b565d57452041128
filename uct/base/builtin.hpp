// The components of the built-in transports. Read self first: it is the smallest complete one.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& self_component() noexcept;       // loopback inside one worker
[[nodiscard]] const component& posix_component() noexcept;      // shared memory of one host
[[nodiscard]] const component& cma_component() noexcept;        // single copies by the kernel
[[nodiscard]] const component& rc_verbs_component() noexcept;   // reliable connections of RDMA
[[nodiscard]] const component& ud_verbs_component() noexcept;   // unreliable datagrams of RDMA
[[nodiscard]] const component& tcp_component() noexcept;        // one interface for each device
[[nodiscard]] const component& cuda_copy_component() noexcept;  // memory of devices, this process
[[nodiscard]] const component& cuda_ipc_component() noexcept;   // memory of devices, this host

}  // namespace uct
