// Endpoint of the tcp transport.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/base/base_ep.hpp"

namespace uct::tcp {

class connection;
class iface;

// Sends over the connection between its pair of interfaces, which it may share with other
// endpoints. Owner context.
class ep final : public base_ep {
public:
    ep(iface& owner, connection& link) noexcept;
    ~ep() override;

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;
    ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) override;
    ucs_status_t flush(completion* done) override;
    void check() noexcept override;
    [[nodiscard]] std::uint64_t received() const noexcept override;

    [[nodiscard]] std::string peer_name() const override;
    void describe(ucs::vfs::directory& into) const override;

    ucs::datastruct::list_hook connection_hook;

private:
    [[nodiscard]] inline iface& owner() const noexcept;

    connection& link_;
};

}  // namespace uct::tcp
