#include "test/adversary/faulty_peer/mutating_transport.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <string_view>

namespace adversary {
namespace {

std::atomic<std::byte*> last_begin{nullptr};
std::atomic<std::size_t> last_length{0};

constexpr uct::am_id connection_message = 1;  // ucp/core/wire.hpp

// Headers lie within the first bytes of a message.
constexpr std::size_t header_bytes = 96;

class mutating_ep final : public uct::ep {
public:
    mutating_ep(std::unique_ptr<uct::ep> inner, mutator& mutations, bool in_shared_memory)
        : inner_(std::move(inner)), mutations_(mutations), in_shared_memory_(in_shared_memory) {}

    [[nodiscard]] const uct::ep& inner() const noexcept { return *inner_; }

    void pack_connection(std::span<std::byte> into) const override {
        inner_->pack_connection(into);
    }
    ucs_status_t connect_to(std::span<const std::byte> remote) override {
        return inner_->connect_to(remote);
    }
    [[nodiscard]] traffic sent() const noexcept override { return inner_->sent(); }

    // Every message takes the path on which it can be changed in place.
    ucs_status_t am_short(uct::am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override {
        struct parts {
            std::uint64_t header;
            const void* payload;
            std::size_t length;
        } message{header, payload, length};
        const auto pack = [](void* arg, void* into, std::size_t) {
            const auto& from = *static_cast<const parts*>(arg);
            std::memcpy(into, &from.header, sizeof from.header);
            if (from.length != 0) {
                std::memcpy(static_cast<std::byte*>(into) + sizeof from.header, from.payload,
                            from.length);
            }
            return sizeof from.header + from.length;
        };
        const ssize_t sent = am_bcopy(id, pack, &message);
        return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
    }

    ssize_t am_bcopy(uct::am_id id, uct::pack_function pack, void* arg) override {
        std::vector<std::byte> message(capacity_);
        message.resize(pack(arg, message.data(), message.size()));
        const std::size_t length = message.size();
        message.resize(capacity_);
        message.resize(mutations_.change(id, message.data(), length, message.size()));
        const ssize_t sent = send(id, message);
        if (sent < 0) return sent;
        if (mutations_.repeats()) static_cast<void>(send(id, message));
        return static_cast<ssize_t>(length);
    }

    ucs_status_t am_zcopy(uct::am_id id, std::span<const std::byte> header,
                          std::span<const uct::iov> payload, uct::completion* done) override {
        std::vector<std::byte> changed(header.begin(), header.end());
        uct::am_id ignored = id;
        static_cast<void>(
            mutations_.change(ignored, changed.data(), changed.size(), changed.size()));
        return inner_->am_zcopy(id, changed, payload, done);
    }

    ucs_status_t get_zcopy(std::span<const uct::iov> into, const uct::remote_place& from,
                           uct::completion* done) override {
        return inner_->get_zcopy(into, from, done);
    }
    // The kernel lets a process write into all memory of its user's processes. The faulty process
    // has sent the victim wrong lengths for its writes, so it writes the correct ones.
    ucs_status_t put_zcopy(std::span<const uct::iov> from, const uct::remote_place& to,
                           uct::completion* done) override {
        return may_write_ ? inner_->put_zcopy(from, to, done) : UCS_ERR_UNSUPPORTED;
    }
    ucs_status_t put_short(const void* from, std::size_t length,
                           const uct::remote_place& to) override {
        return inner_->put_short(from, length, to);
    }
    ssize_t put_bcopy(uct::pack_function pack, void* arg, const uct::remote_place& to) override {
        return inner_->put_bcopy(pack, arg, to);
    }
    ucs_status_t get_bcopy(void* into, std::size_t length, const uct::remote_place& from,
                           uct::completion* done) override {
        return inner_->get_bcopy(into, length, from, done);
    }
    ucs_status_t atomic(const uct::atomic_op& operation, const uct::remote_place& target,
                        void* before, uct::completion* done) override {
        return inner_->atomic(operation, target, before, done);
    }
    ucs_status_t flush(uct::completion* done) override { return inner_->flush(done); }
    void check() noexcept override { inner_->check(); }
    void abort() noexcept override { inner_->abort(); }
    void pending_add(uct::pending_request& request) override { inner_->pending_add(request); }
    void pending_remove(uct::pending_request& request) override { inner_->pending_remove(request); }
    void pending_purge(void (*purge)(uct::pending_request& request, void* arg),
                       void* arg) override {
        inner_->pending_purge(purge, arg);
    }
    [[nodiscard]] std::string peer_name() const override { return inner_->peer_name(); }

    void set_capacity(std::size_t longest) noexcept { capacity_ = longest; }
    void forbid_writes() noexcept { may_write_ = false; }

private:
    struct outgoing {
        mutating_ep* self;
        const std::vector<std::byte>* message;
    };

    ssize_t send(uct::am_id id, const std::vector<std::byte>& message) {
        outgoing from{this, &message};
        const auto pack = [](void* arg, void* into, std::size_t) {
            const auto& sent = *static_cast<const outgoing*>(arg);
            if (!sent.message->empty())
                std::memcpy(into, sent.message->data(), sent.message->size());
            if (sent.self->in_shared_memory_) {
                sent.self->mutations_.note_sent(
                    {static_cast<std::byte*>(into), sent.message->size()});
            }
            return sent.message->size();
        };
        return inner_->am_bcopy(id, pack, &from);
    }

    const std::unique_ptr<uct::ep> inner_;
    mutator& mutations_;
    const bool in_shared_memory_;
    std::size_t capacity_ = 0;
    bool may_write_ = true;
};

class mutating_iface final : public uct::iface {
public:
    mutating_iface(std::unique_ptr<uct::iface> inner, mutator& mutations,
                   std::string_view transport)
        : inner_(std::move(inner)),
          mutations_(mutations),
          in_shared_memory_(transport == "posix"),
          by_process_id_(transport == "cma") {
        inner_->set_error_handler({[](void* arg, uct::ep& which, ucs_status_t status) {
                                       static_cast<mutating_iface*>(arg)->failed(which, status);
                                   },
                                   this});
    }

    [[nodiscard]] const uct::iface_attr& attr() const noexcept override { return inner_->attr(); }
    unsigned progress() override { return inner_->progress(); }
    [[nodiscard]] bool has_work() const noexcept override { return inner_->has_work(); }
    [[nodiscard]] ucs_status_t arm() noexcept override { return inner_->arm(); }
    void pack_address(std::span<std::byte> into) const override { inner_->pack_address(into); }
    [[nodiscard]] uct::reachability check_reachable(
        std::span<const std::byte> address) const override {
        return inner_->check_reachable(address);
    }
    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte> address) override {
        auto made = inner_->create_ep(address);
        if (!made) return made.status();
        const uct::ep* const key = made->get();
        auto outer = std::make_unique<mutating_ep>(std::move(*made), mutations_, in_shared_memory_);
        outer->set_capacity(attr().max_bcopy);
        if (by_process_id_) outer->forbid_writes();
        outer_[key] = outer.get();
        return std::unique_ptr<uct::ep>(std::move(outer));
    }
    [[nodiscard]] uct::memory_domain* domain() noexcept override { return inner_->domain(); }
    void set_am_handler(uct::am_id id, const uct::am_handler& handler) override {
        inner_->set_am_handler(id, handler);
    }
    void set_error_handler(const uct::error_handler& handler) override { handler_ = handler; }
    void describe(ucs::vfs::directory& into) const override { inner_->describe(into); }

private:
    void failed(const uct::ep& which, ucs_status_t status) {
        const auto found = outer_.find(&which);
        if (found == outer_.end() || handler_.failed == nullptr) return;
        handler_.failed(handler_.arg, *found->second, status);
    }

    const std::unique_ptr<uct::iface> inner_;
    mutator& mutations_;
    const bool in_shared_memory_;
    const bool by_process_id_;
    uct::error_handler handler_;
    std::map<const uct::ep*, mutating_ep*> outer_;  // the newest one at each address
};

class mutating_component final : public uct::component {
public:
    mutating_component(const uct::component& inner, mutator& mutations)
        : component_(inner), mutations_(mutations) {}

    [[nodiscard]] const char* name() const noexcept override { return component_.name(); }
    [[nodiscard]] std::vector<const ucs::config::table*> options() const override {
        return component_.options();
    }
    [[nodiscard]] uct::listing query(const ucs::config::source& config) const override {
        return component_.query(config);
    }
    ucs::result<std::shared_ptr<uct::memory_domain>> open_domain(
        const uct::resource& where, const ucs::config::source& config) const override {
        return component_.open_domain(where, config);
    }
    ucs::result<std::unique_ptr<uct::iface>> open(const uct::resource& where,
                                                  const uct::iface_params& params) const override {
        auto made = component_.open(where, params);
        if (!made) return made.status();
        return std::unique_ptr<uct::iface>(
            std::make_unique<mutating_iface>(std::move(*made), mutations_, where.transport));
    }

private:
    const uct::component& component_;
    mutator& mutations_;
};

}  // namespace

std::uint64_t mutator::interesting_number() {
    static constexpr std::uint64_t numbers[] = {
        0, 1, 7, 64, 4096, 65535, 1ULL << 31, 1ULL << 32, 1ULL << 40, 1ULL << 62, 1ULL << 63, ~0ULL,
    };
    const std::uint64_t which = random_();
    if (which % 2 == 0 && !seen_.empty()) return seen_[which / 2 % seen_.size()];
    if (which % 16 == 1) return which;
    return numbers[which / 16 % std::size(numbers)];
}

std::size_t mutator::change(uct::am_id& id, std::byte* message, std::size_t length,
                            std::size_t capacity) {
    if (seen_.size() < 4096) {
        for (std::size_t offset = 0; offset + 8 <= std::min(length, header_bytes); offset += 8)
            std::memcpy(&seen_.emplace_back(), message + offset, 8);
    }
    // Without a connection there are no other messages, so connection messages are changed less
    // often.
    const unsigned one_in = id == connection_message ? 12 : 4;
    if (!active_ || length == 0 || random_() % one_in != 0) return length;
    const std::size_t changeable = std::min(length, header_bytes);
    switch (random_() % 8) {
        case 0:
            id = static_cast<uct::am_id>(random_() % 28);
            return length;
        case 1:
            return random_() % length;
        case 2: {
            const std::size_t longer = std::min<std::size_t>(capacity, length + random_() % 256);
            for (std::size_t index = length; index < longer; ++index)
                message[index] = static_cast<std::byte>(random_());
            return longer;
        }
        case 3:
        case 4:
            for (unsigned left = 1 + static_cast<unsigned>(random_() % 3); left > 0; --left)
                message[random_() % changeable] ^= std::byte{1} << (random_() % 8);
            return length;
        default:
            for (unsigned left = 1 + static_cast<unsigned>(random_() % 2);
                 left > 0 && changeable >= 8; --left) {
                const std::uint64_t number = interesting_number();
                std::memcpy(message + random_() % (changeable / 8) * 8, &number, 8);
            }
            return length;
    }
}

void mutator::note_sent(sent_bytes message) noexcept {
    last_length.store(0);
    last_begin.store(message.begin);
    last_length.store(message.length);
}

sent_bytes mutator::last_sent() noexcept {
    const std::size_t length = last_length.load();
    std::byte* const begin = last_begin.load();
    return last_length.load() == length ? sent_bytes{begin, length} : sent_bytes{};
}

std::unique_ptr<uct::component> make_mutating(const uct::component& component, mutator& mutations) {
    return std::make_unique<mutating_component>(component, mutations);
}

}  // namespace adversary
