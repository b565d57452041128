#include "uct/cuda/ipc/broker.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/descriptor/abstract_name.hpp"
#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/net/acceptor.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/wire/codec.hpp"
#include "uct/base/log.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

// Peers wait no longer than this (broker_client.cpp).
constexpr ucs::time::nanoseconds time_to_ask = 200 * ucs::time::millisecond;

ucs_status_t report(const char* call) {
    const int error = errno;
    ucs::log::error(cuda_log, "device memory cannot be exported: {}: {}", call,
                    std::strerror(error));
    return error == EMFILE || error == ENFILE ? UCS_ERR_NO_RESOURCE : UCS_ERR_IO_ERROR;
}

// The secrets are compared in the same time wherever they differ.
bool are_equal(const export_secret& left, const export_secret& right) noexcept {
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
        difference |= static_cast<unsigned>(left[i] ^ right[i]);
    return difference == 0;
}

// There is one broker at a time. Never destroyed: memory may be shared while the process ends.
struct registry {
    std::mutex lock;
    std::weak_ptr<broker> only;
    pid_t process = 0;
};

registry& all() {
    static auto& made = *new registry;
    return made;
}

}  // namespace

struct broker::record : std::enable_shared_from_this<record> {
    record(std::shared_ptr<broker> home, std::vector<exported_part> exported)
        : owner(std::move(home)), parts(std::move(exported)) {}
    ~record() { owner->remove(*this); }
    record(const record&) = delete;
    record& operator=(const record&) = delete;

    [[nodiscard]] bool holds(const std::vector<exported_part>& asked) const noexcept {
        return std::ranges::equal(
            parts, asked, [](const exported_part& left, const exported_part& right) {
                return left.handle.get() == right.handle.get() && left.length == right.length;
            });
    }

    const std::shared_ptr<broker> owner;
    const std::vector<exported_part> parts;
    export_name name;
};

// A process of the same user that has connected.
class broker::connection final : public ucs::net::acceptor::pending {
public:
    connection(broker& owner, ucs::unique_fd socket) noexcept
        : pending(socket.get()), owner_(owner), socket_(std::move(socket)) {}
    ~connection() override { ucs::sys::close_in_background(std::move(socket_)); }

    void on_readable() noexcept override {
        std::array<std::byte, sizeof(broker_request)> bytes{};
        const auto got = ucs::sys::receive_with_descriptor(socket_.get(), bytes);
        if (got.would_block()) return;
        const bool is_whole = got.length == static_cast<ssize_t>(bytes.size()) && !got.truncated;
        const auto request = ucs::wire::read<broker_request>(bytes);
        if (!is_whole || request->magic != broker_magic || request->version != broker_version)
            return owner_.acceptor_->remove(*this);
        ucs::unique_fd passed;
        const broker_reply reply = owner_.answer(*request, passed);
        const int error = ucs::sys::send_with_descriptor(
            socket_.get(), std::as_bytes(std::span(&reply, 1)), passed.get());
        if (error != 0 || reply.is_granted == 0) owner_.acceptor_->remove(*this);
    }

private:
    broker& owner_;
    ucs::unique_fd socket_;
};

broker::broker(const driver_functions& driver) noexcept : driver_(driver) {}

std::shared_ptr<broker> broker::running() noexcept {
    registry& known = all();
    const std::lock_guard guard(known.lock);
    // The child of a fork has no thread of its parent.
    return known.process == ::getpid() ? known.only.lock() : nullptr;
}

ucs::result<std::shared_ptr<broker>> broker::get(const driver_functions& driver) {
    registry& known = all();
    const std::lock_guard guard(known.lock);
    // The child of a fork has no thread of its parent.
    if (known.process == ::getpid()) {
        if (auto found = known.only.lock()) return found;
    }
    std::shared_ptr<broker> made(new broker(driver));
    if (const ucs_status_t status = made->start(); status != UCS_OK) return status;
    known.only = made;
    known.process = ::getpid();
    return made;
}

ucs_status_t broker::start() {
    socket_id_ = ucs::sys::random_id();
    const ucs::sys::abstract_name name(broker_socket, socket_id_);
    listener_ = ucs::sys::make_local_socket();
    if (!listener_) return report("socket(AF_UNIX)");
    if (::bind(listener_.get(), name.get(), name.length()) != 0) return report("bind");
    if (::listen(listener_.get(), SOMAXCONN) != 0) return report("listen");
    const auto accept = [this](int listener) -> std::unique_ptr<ucs::net::acceptor::pending> {
        ucs::unique_fd socket = ucs::sys::accept_within_budget(listener);
        if (!socket) return nullptr;
        const auto peer = ucs::sys::read_peer_credentials(socket.get());
        if (peer && peer->is_own_user())
            return std::make_unique<connection>(*this, std::move(socket));
        rejected_.warn(cuda_log, "a process of another user asked for device memory");
        ucs::sys::close_in_background(std::move(socket));
        errno = ECONNABORTED;
        return nullptr;
    };
    ucs_status_t opened = UCS_OK;
    const ucs_status_t status = thread_.run([&](ucs::async::event_loop& events) {
        acceptor_ = std::make_unique<ucs::net::acceptor>(
            events,
            ucs::net::acceptor::settings{.log = cuda_log,
                                         .rejected = rejected_,
                                         .name = broker_socket,
                                         .limits = ucs::net::acceptor::default_limits(time_to_ask),
                                         .accept = accept});
        opened = acceptor_->open({listener_.get()});
    });
    return status != UCS_OK ? status : opened;
}

broker::~broker() {
    if (process_ != ::getpid()) {
        // The event loop belongs to the parent of a fork.
        static_cast<void>(acceptor_.release());
        return;
    }
    if (thread_.running())
        static_cast<void>(thread_.run([this](ucs::async::event_loop&) { acceptor_.reset(); }));
    thread_.stop();
    ucs::sys::close_in_background(std::move(listener_));
}

broker::entry broker::add(std::vector<exported_part> parts) {
    // Destroyed after the lock is released, because that takes the lock.
    const auto made = std::make_shared<record>(shared_from_this(), std::move(parts));
    const std::lock_guard guard(lock_);
    for (const auto& [number, each] : records_) {
        if (!each->holds(made->parts)) continue;
        if (auto known = each->weak_from_this().lock()) return {known->name, known};
    }
    made->name.socket_id = socket_id_;
    made->name.number = ++last_number_;
    ucs::sys::random_bytes(made->name.secret.data(), made->name.secret.size());
    records_.emplace(made->name.number, made.get());
    return {made->name, made};
}

void broker::remove(const record& ended) noexcept {
    const std::lock_guard guard(lock_);
    records_.erase(ended.name.number);
}

bool broker::holds(const export_name& name) const {
    const std::lock_guard guard(lock_);
    const auto known = records_.find(name.number);
    return known != records_.end() && known->second->name == name;
}

std::size_t broker::exports() const {
    const std::lock_guard guard(lock_);
    return records_.size();
}

broker_reply broker::answer(const broker_request& request, ucs::unique_fd& passed) {
    broker_reply reply;
    // The lock keeps the record alive: this thread must not be the last one to hold it.
    const std::lock_guard guard(lock_);
    const auto known = records_.find(request.number);
    if (known == records_.end() || !are_equal(known->second->name.secret, request.secret) ||
        request.index >= known->second->parts.size()) {
        rejected_.warn(cuda_log, "a process asked for device memory that is not exported");
        return reply;
    }
    const std::vector<exported_part>& parts = known->second->parts;
    const exported_part& part = parts[request.index];
    int descriptor = -1;
    const CUresult outcome = driver_.cuMemExportToShareableHandle(
        &descriptor, part.handle.get(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (check(outcome, "cuMemExportToShareableHandle") != UCS_OK) return reply;
    passed = ucs::sys::within_budget(ucs::unique_fd(descriptor));
    if (!passed) return reply;
    reply.is_granted = 1;
    reply.length = part.length;
    reply.count = static_cast<std::uint32_t>(parts.size());
    return reply;
}

}  // namespace uct::cuda
