#include "uct/ib/rdmacm/connection.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/type/allocated.hpp"

namespace uct::rdmacm {

namespace {

// Limit of each step. A caller that waits for the connection has a limit of its own for all of
// them.
constexpr int step_limit_ms = 5000;

bool unblock(int fd) noexcept {
    return ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

// Errors of the kernel are negative, reasons of a refusal are positive. If librdmacm itself fails,
// for example for want of descriptors, it reports -1.
int error_in(const rdma_cm_event& event) noexcept {
    if (event.status == -1) return EIO;
    switch (event.event) {
        case RDMA_CM_EVENT_REJECTED:
            return ECONNREFUSED;  // no listener
        case RDMA_CM_EVENT_UNREACHABLE:
            return event.status == -ETIMEDOUT ? ETIMEDOUT : EHOSTUNREACH;
        default:
            return event.status < 0 ? -event.status : EHOSTUNREACH;
    }
}

rdma_conn_param parameters() noexcept {
    rdma_conn_param wanted{};
    wanted.retry_count = 7;
    // There are buffers for everything that either side may send.
    wanted.rnr_retry_count = 3;
    return wanted;
}

}  // namespace

events_handle open_event_channel(const library& with) noexcept {
    if (!ucs::sys::has_descriptor_left()) return {nullptr, {&with}};
    events_handle made(with.create_event_channel(), {&with});
    if (made == nullptr || unblock(made->fd)) return made;
    const int error = errno;
    made.reset();
    errno = error;
    return made;
}

bool may_reach(const ucs::net::socket_address& to) noexcept {
    const ucs::net::ip_address ip = to.ip();
    if (ip.family() == AF_INET) return ip.bytes()[0] != std::byte{127};
    const auto last = ip.bytes().empty() ? ip.bytes() : ip.bytes().first(15);
    const bool has_front =
        std::any_of(last.begin(), last.end(), [](std::byte each) { return each != std::byte{0}; });
    return ip.family() == AF_INET6 && has_front;
}

connection::attempt connection::connect(const ucs::net::socket_address& to,
                                        const ucs::net::socket_address& from, std::size_t longest) {
    std::string reason;
    const library* const with = load(reason);
    if (with == nullptr) {
        ucs::log::debug(ib_log, "no connection by address over RDMA: {}", reason);
        return {nullptr, ENODEV};
    }
    attempt made = prepare(*with, longest);
    if (made.made != nullptr) made.error = made.made->begin(to, from);
    if (made.error != 0) made.made.reset();
    return made;
}

connection::attempt connection::prepare(const library& with, std::size_t longest) {
    std::unique_ptr<connection> made(new connection(with, longest));
    if (const int error = made->open_events(); error != 0) return {nullptr, error};
    return {std::move(made)};
}

connection::~connection() {
    if (id_ == nullptr || id_->qp == nullptr) return;
    use_.disconnect(id_.get());  // fails if the other side has disconnected first
    use_.destroy_qp(id_.get());
}

int connection::open_events() noexcept {
    watched_ = ucs::sys::within_budget(ucs::unique_fd(::epoll_create1(EPOLL_CLOEXEC)));
    if (!watched_) return errno;
    events_ = open_event_channel(use_);
    if (events_ == nullptr) return errno;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, events_->fd, &wanted) != 0) return errno;
    spare_ = ucs::sys::within_budget(ucs::unique_fd(::fcntl(watched_.get(), F_DUPFD_CLOEXEC, 0)));
    return spare_ ? 0 : errno;
}

int connection::begin(const ucs::net::socket_address& to,
                      const ucs::net::socket_address& from) noexcept {
    rdma_cm_id* fresh = nullptr;
    if (use_.create_id(events_.get(), &fresh, this, RDMA_PS_TCP) != 0) return errno;
    id_ = id_handle(fresh, {&use_});
    // The library only reads the addresses.
    auto* const source =
        from.data()->sa_family == AF_UNSPEC ? nullptr : const_cast<sockaddr*>(from.data());
    auto* const target = const_cast<sockaddr*>(to.data());
    return use_.resolve_addr(id_.get(), source, target, step_limit_ms) == 0 ? 0 : errno;
}

int connection::accept(rdma_cm_id* id) {
    id_ = id_handle(id, {&use_});
    int error = use_.migrate_id(id, events_.get()) == 0 ? open_pair() : errno;
    rdma_conn_param wanted = parameters();
    if (error == 0 && use_.accept(id, &wanted) != 0) error = errno;
    if (error != 0) use_.reject(id, nullptr, 0);
    return error;
}

int connection::open_pair() {
    ibv_context& device = *id_->verbs;
    spare_.reset();
    completions_.reset(ibv_create_comp_channel(&device));
    if (completions_ == nullptr) return errno;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (!unblock(completions_->fd) ||
        ::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, completions_->fd, &wanted) != 0) {
        return errno;
    }
    queue_.reset(ibv_create_cq(&device, most_completions, nullptr, completions_.get(), 0));
    if (queue_ == nullptr) return errno;
    ibv_qp_init_attr pair{};
    pair.send_cq = queue_.get();
    pair.recv_cq = queue_.get();
    pair.cap = {most_sends + 1, most_receives, 1, 1, 0};
    pair.qp_type = IBV_QPT_RC;
    pair.sq_sig_all = 1;
    if (use_.create_qp(id_.get(), nullptr, &pair) != 0) return errno;
    memory_.resize((most_sends + most_receives) * longest_);
    const int rights = IBV_ACCESS_LOCAL_WRITE;
    region_.reset(ibv_reg_mr(id_->pd, memory_.data(), memory_.size(), rights));
    if (region_ == nullptr) return errno;
    for (unsigned slot = 0; slot < most_receives; ++slot)
        if (!post_receive(slot)) return errno;
    return ibv_req_notify_cq(queue_.get(), 0);
}

int connection::request_connection() noexcept {
    int error = 0;
    if (!ucs::allocated([&] { error = open_pair(); })) error = ENOMEM;
    rdma_conn_param wanted = parameters();
    if (error == 0 && use_.connect(id_.get(), &wanted) != 0) error = errno;
    return error;
}

ibv_sge connection::piece(unsigned slot, std::size_t length) noexcept {
    return {reinterpret_cast<std::uint64_t>(memory_.data() + slot * longest_),
            static_cast<std::uint32_t>(length), region_->lkey};
}

bool connection::post_receive(unsigned slot) noexcept {
    ibv_sge where = piece(slot, longest_);
    ibv_recv_wr request{};
    request.wr_id = slot;
    request.sg_list = &where;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_recv(id_->qp, &request, &bad);
    if (error != 0) errno = error;
    return error == 0;
}

int connection::progress() noexcept {
    rdma_cm_event* event = nullptr;
    while (error_ == 0 && use_.get_cm_event(events_.get(), &event) == 0) {
        const rdma_cm_event said = *event;
        use_.ack_cm_event(event);
        take_event(said);
    }
    if (queue_ != nullptr) take_completions();
    if (error_ != 0) return error_;
    return established_ ? 0 : EINPROGRESS;
}

void connection::take_event(const rdma_cm_event& event) noexcept {
    switch (event.event) {
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            if (use_.resolve_route(id_.get(), step_limit_ms) != 0) end(errno);
            return;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            if (const int error = request_connection(); error != 0) end(error);
            return;
        case RDMA_CM_EVENT_ESTABLISHED:
            established_ = true;
            return;
        case RDMA_CM_EVENT_DISCONNECTED:
        case RDMA_CM_EVENT_DEVICE_REMOVAL:
            return end(ECONNRESET);
        case RDMA_CM_EVENT_ADDR_ERROR:
        case RDMA_CM_EVENT_ROUTE_ERROR:
        case RDMA_CM_EVENT_CONNECT_ERROR:
        case RDMA_CM_EVENT_UNREACHABLE:
        case RDMA_CM_EVENT_REJECTED:
            return end(error_in(event));
        default:
            return;
    }
}

void connection::take_completions() noexcept {
    ibv_cq* from = nullptr;
    void* context = nullptr;
    while (ibv_get_cq_event(completions_.get(), &from, &context) == 0)
        ibv_ack_cq_events(from, 1);
    // Completions after the last poll make the channel readable.
    if (ibv_req_notify_cq(queue_.get(), 0) != 0) end(EIO);
    std::array<ibv_wc, most_completions> found;
    int count = 0;
    do {
        count = ibv_poll_cq(queue_.get(), static_cast<int>(found.size()), found.data());
        for (int i = 0; i < count; ++i)
            take(found[static_cast<std::size_t>(i)]);
    } while (count > 0);
    if (count < 0) end(EIO);
}

void connection::take(const ibv_wc& done) noexcept {
    if (done.status != IBV_WC_SUCCESS) return end(ECONNRESET);
    if (done.wr_id == check_id) {
        checking_ = false;
        return;
    }
    if (done.wr_id >= most_receives) {
        ++free_sends_;
        return;
    }
    // Messages of the protocol are not empty, and only sends have a trustworthy length.
    if (done.opcode != IBV_WC_RECV || done.byte_len == 0 || done.byte_len > longest_)
        return end(EPROTO);
    established_ = true;  // the message came before the event that reports the connection
    arrived_[arrived_count_++] = {static_cast<unsigned>(done.wr_id), done.byte_len};
}

bool connection::send(std::span<const std::byte> message) noexcept {
    if (error_ != 0 || !established_ || free_sends_ == 0 || message.size() > longest_) return false;
    const unsigned slot = most_receives + next_send_;
    ibv_sge where = piece(slot, message.size());
    std::memcpy(reinterpret_cast<void*>(where.addr), message.data(), message.size());
    ibv_send_wr request{};
    request.wr_id = slot;
    request.sg_list = &where;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(id_->qp, &request, &bad); error != 0) {
        end(error);
        return false;
    }
    --free_sends_;
    next_send_ = (next_send_ + 1) % most_sends;
    return true;
}

// Writes 0 bytes, which needs no memory at the peer.
void connection::check() noexcept {
    if (error_ != 0 || !established_ || checking_) return;
    ibv_send_wr request{};
    request.wr_id = check_id;
    request.opcode = IBV_WR_RDMA_WRITE;
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(id_->qp, &request, &bad); error != 0) return end(error);
    checking_ = true;
}

std::size_t connection::receive(std::span<std::byte> into) noexcept {
    if (arrived_count_ == 0) return 0;
    arrival& oldest = arrived_[0];
    const std::size_t count = std::min(into.size(), oldest.length - oldest.read);
    std::copy_n(memory_.data() + oldest.slot * longest_ + oldest.read, count, into.data());
    oldest.read += count;
    if (oldest.read < oldest.length) return count;
    const unsigned slot = oldest.slot;
    std::move(arrived_.begin() + 1, arrived_.end(), arrived_.begin());
    --arrived_count_;
    if (error_ == 0 && !post_receive(slot)) end(EIO);
    return count;
}

ucs::net::socket_address connection::local() const noexcept {
    const sockaddr& own = *rdma_get_local_addr(id_.get());
    return {&own, sizeof(sockaddr_storage)};
}

ucs::net::socket_address connection::remote() const noexcept {
    const sockaddr& peer = *rdma_get_peer_addr(id_.get());
    return {&peer, sizeof(sockaddr_storage)};
}

}  // namespace uct::rdmacm
