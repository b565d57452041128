#include "uct/self/self.hpp"

#include <array>
#include <cstring>

#include "uct/base/base_iface.hpp"
#include "uct/base/implemented_ops.hpp"

namespace uct {

namespace {

// A message is delivered inside the send call, so the buffer is one per nesting level: a handler
// that sends to itself again must not overwrite the message that it is still reading.
constexpr std::size_t message_size = 8192;
constexpr unsigned max_nesting = 8;

class self_iface final : public base_iface {
public:
    self_iface(const resource& where, const iface_params& params);

    unsigned progress() override { return dispatch_waiting(); }
    void pack_address(std::span<std::byte> into) const override;
    reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;

    struct buffer {
        alignas(64) std::array<std::byte, message_size> bytes;
    };

    // A free buffer, or nullptr when handlers have nested too deep.
    buffer* enter() noexcept {
        if (depth_ == max_nesting) return nullptr;
        if (buffers_[depth_] == nullptr) buffers_[depth_] = std::make_unique<buffer>();
        return buffers_[depth_++].get();
    }
    void leave() noexcept { --depth_; }
    void receive(am_id id, void* data, std::size_t length) { deliver(id, data, length); }

private:
    std::array<std::unique_ptr<buffer>, max_nesting> buffers_;
    unsigned depth_ = 0;
};

// Delivers to its own interface. Owner context.
class self_ep final : public base_ep {
public:
    explicit self_ep(self_iface& owner) noexcept : base_ep(owner) {}

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override {
        self_iface::buffer* message = begin();
        if (message == nullptr) return UCS_ERR_NO_RESOURCE;
        std::memcpy(message->bytes.data(), &header, sizeof header);
        if (length > 0) std::memcpy(message->bytes.data() + sizeof header, payload, length);
        return finish(id, *message, sizeof header + length);
    }

    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override {
        self_iface::buffer* message = begin();
        if (message == nullptr) return UCS_ERR_NO_RESOURCE;
        const std::size_t length = pack(arg, message->bytes.data(), message_size);
        finish(id, *message, length);
        return static_cast<ssize_t>(length);
    }

    ucs_status_t get_zcopy(std::span<const iov> into, std::uint64_t remote_address,
                           completion*) override {
        const auto* from = reinterpret_cast<const std::byte*>(remote_address);
        for (const iov& piece : into) {
            std::memmove(piece.base, from, piece.length);
            from += piece.length;
        }
        return UCS_OK;
    }

    ucs_status_t put_zcopy(std::span<const iov> from, std::uint64_t remote_address,
                           completion*) override {
        auto* into = reinterpret_cast<std::byte*>(remote_address);
        for (const iov& piece : from) {
            std::memmove(into, piece.base, piece.length);
            into += piece.length;
        }
        return UCS_OK;
    }

    std::string peer_name() const override { return "self"; }

private:
    self_iface& self() noexcept { return static_cast<self_iface&>(iface_); }

    self_iface::buffer* begin() noexcept { return must_queue() ? nullptr : self().enter(); }

    ucs_status_t finish(am_id id, self_iface::buffer& message, std::size_t length) {
        // The handler may destroy this endpoint, so only the interface is touched afterwards.
        self_iface& owner = self();
        owner.receive(id, message.bytes.data(), length);
        owner.leave();
        return UCS_OK;
    }
};

self_iface::self_iface(const resource& where, const iface_params& params)
    : base_iface(where, params) {
    attr_.ops = implemented_ops<self_ep>();
    attr_.max_short = 256;
    attr_.max_bcopy = message_size;
    attr_.max_iov = 64;
    attr_.max_rma = ~std::size_t{0};
    attr_.address_length = sizeof(std::uint64_t);
    attr_.latency = 10e-9;
    attr_.bandwidth = 20e9;
    attr_.overhead = 10e-9;
    attr_.reach = scope::process;
}

void self_iface::pack_address(std::span<std::byte> into) const {
    std::memcpy(into.data(), &worker_uid_, sizeof worker_uid_);
}

reachability self_iface::check_reachable(std::span<const std::byte> address) const {
    if (address.size() != sizeof worker_uid_) return {"its self address is malformed"};
    if (std::memcmp(address.data(), &worker_uid_, sizeof worker_uid_) != 0) {
        return {"it is another worker, and self reaches only the worker that owns it"};
    }
    return {};
}

ucs::result<std::unique_ptr<ep>> self_iface::create_ep(std::span<const std::byte> address) {
    if (!check_reachable(address).ok()) return UCS_ERR_UNREACHABLE;
    return std::unique_ptr<ep>(std::make_unique<self_ep>(*this));
}

class component_of_self final : public component {
public:
    const char* name() const noexcept override { return "self"; }
    const ucs::config::table* options() const noexcept override { return nullptr; }

    listing query(const ucs::config::source&) const override {
        return {.usable = {{.transport = "self", .device = "memory", .type = device_type::self}},
                .unusable = {}};
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return std::unique_ptr<iface>(std::make_unique<self_iface>(where, params));
    }
};

}  // namespace

const component& self_component() noexcept {
    static const component_of_self instance;
    return instance;
}

}  // namespace uct
