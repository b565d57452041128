// Endpoint of the cuda_ipc transport.
#pragma once

#include "uct/cuda/base/cuda_iface.hpp"
#include "uct/cuda/ipc/domain.hpp"

namespace uct::cuda {

// Reads and writes device memory of one process, by its keys. The local memory may be of any kind.
// Each error is that of its own operation, and the endpoint stays usable. Owned by the protocol
// layer, owner context.
class ipc_ep final : public cuda_ep {
public:
    // May throw std::bad_alloc.
    ipc_ep(cuda_iface& owner, const process_address& peer, ipc_domain& domain,
           unsigned max_streams);
    ~ipc_ep() override;

    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;

private:
    [[nodiscard]] ucs_status_t transfer(std::span<const iov> pieces, const remote_place& place,
                                        bool is_get, completion* done) noexcept;

    ipc_domain& domain_;
    const unsigned max_streams_;
};

}  // namespace uct::cuda
