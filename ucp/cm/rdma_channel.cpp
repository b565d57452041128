// Channel over a connection between RDMA devices, which needs no IP traffic.
#include <cerrno>

#include "ucp/cm/connect.hpp"

namespace ucp::cm {

namespace {

class over_rdma final : public channel {
public:
    explicit over_rdma(std::unique_ptr<uct::rdmacm::connection> connection) noexcept
        : connection_(std::move(connection)) {}

    [[nodiscard]] int fd() const noexcept override { return connection_->fd(); }
    [[nodiscard]] int connect_error() noexcept override { return connection_->progress(); }

    [[nodiscard]] bool send(std::span<const std::byte> frame) noexcept override {
        return connection_->send(frame);
    }

    [[nodiscard]] bool finish() noexcept override {
        if (!connection_->is_sending()) return true;
        connection_->progress();
        return !connection_->is_sending();
    }
    void check() noexcept override { connection_->check(); }

    [[nodiscard]] uct::tcp::socket_address local() const noexcept override {
        return connection_->local();
    }
    [[nodiscard]] uct::tcp::socket_address remote() const noexcept override {
        return connection_->remote();
    }

private:
    // Data that arrived before the end can still be read.
    [[nodiscard]] ssize_t receive(std::span<std::byte> into) noexcept override {
        const int state = connection_->progress();
        const std::size_t got = connection_->receive(into);
        if (got > 0) return static_cast<ssize_t>(got);
        return state == 0 || state == EINPROGRESS ? 0 : -1;
    }

    const std::unique_ptr<uct::rdmacm::connection> connection_;
};

}  // namespace

std::unique_ptr<channel> rdma_channel(std::unique_ptr<uct::rdmacm::connection> connection) {
    return std::make_unique<over_rdma>(std::move(connection));
}

attempt connect_rdma(const uct::tcp::socket_address& to, const uct::tcp::socket_address& from) {
    attempt made;
    if (!uct::rdmacm::may_reach(to)) {
        made.error = ENODEV;
        return made;
    }
    auto begun = uct::rdmacm::connection::connect(to, from, longest_message);
    if (begun.made == nullptr) {
        made.error = begun.error;
        return made;
    }
    made.made = rdma_channel(std::move(begun.made));
    return made;
}

}  // namespace ucp::cm
