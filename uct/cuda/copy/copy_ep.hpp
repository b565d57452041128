// Endpoint of the cuda_copy transport.
#pragma once

#include "uct/cuda/base/cuda_iface.hpp"

namespace uct::cuda {

// Copies within this process, between memory of the host and of devices in any combination. Whole
// operations run on the device while the caller goes on; short ones are done when they return. Each
// error is that of its own operation, and the endpoint stays usable. Owned by the protocol layer,
// owner context.
class copy_ep final : public cuda_ep {
public:
    static constexpr std::size_t max_short = 4096;
    static constexpr std::size_t max_bcopy = context_streams::bounce_size;

    using cuda_ep::cuda_ep;

    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;
    ucs_status_t put_short(const void* from, std::size_t length, const remote_place& to) override;
    ssize_t put_bcopy(pack_function pack, void* arg, const remote_place& to) override;
    ucs_status_t get_bcopy(void* into, std::size_t length, const remote_place& from,
                           completion* done) override;
};

}  // namespace uct::cuda
