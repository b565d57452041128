#include "test/integration/exhaustion/session.hpp"

#include <chrono>
#include <cstring>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/integration/exhaustion/log_file.hpp"

namespace exhaustion {

namespace {

using clock = std::chrono::steady_clock;

// A limit against hangs only.
constexpr std::chrono::seconds longest{60};
// Number of turns for operations that may never end.
constexpr unsigned last_turns = 500;
// Number of turns if an operation is already stuck.
constexpr unsigned few_turns = 50;

constexpr std::size_t longest_message = 300'000;
constexpr std::size_t phases = 61;

const std::byte* pattern() noexcept {
    static std::array<std::byte, longest_message + phases> bytes;
    static const bool made = [] {
        std::uint32_t state = 1;
        for (std::byte& each : bytes) {
            state = state * 1664525U + 1013904223U;
            each = static_cast<std::byte>(state >> 24);
        }
        return true;
    }();
    static_cast<void>(made);
    return bytes.data();
}

const std::byte* data_of(ucp_tag_t tag) noexcept {
    return pattern() + tag % phases;
}

std::array<std::byte, 24 * longest_message> receive_memory;

// The status is a shortage, or the failure of an endpoint by an earlier shortage on either side.
bool is_shortage(ucs_status_t status) noexcept {
    return status == UCS_OK || status == UCS_ERR_NO_MEMORY || status == UCS_ERR_CONNECTION_RESET ||
           status == UCS_ERR_UNREACHABLE || status == UCS_ERR_REJECTED ||
           status == UCS_ERR_NOT_CONNECTED;
}

constexpr ucp_tag_t flood_tag = ucp_tag_t{1} << 40;
constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};

}  // namespace

session::session(ucp_context_h context) {
    ucp_worker_params_t params{};
    ucp_worker_create(context, &params, &left_);
    ucp_worker_create(context, &params, &right_);
}

session::~session() {
    close(to_right_, UCP_EP_CLOSE_FLAG_FORCE);
    close(to_left_, UCP_EP_CLOSE_FLAG_FORCE);
    for (std::size_t i = first_running_; i < count_; ++i) {
        operation& each = operations_[i];
        if (each.request != nullptr) ucp_request_cancel(each.on, each.request);
    }
    for (unsigned turn = 0; turn < last_turns && !look(); ++turn)
        progress();
    for (std::size_t i = first_running_; i < count_; ++i)
        ucp_request_free(operations_[i].request);
    ucp_worker_destroy(right_);
    ucp_worker_destroy(left_);
}

void session::progress() const {
    ucp_worker_progress(left_);
    ucp_worker_progress(right_);
}

ucp_ep_h session::make_ep(ucp_worker_h from, ucp_worker_h to) {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    ucs_status_t status = ucp_worker_get_address(to, &address, &length);
    ucp_ep_h made = nullptr;
    if (status == UCS_OK) {
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_NAME;
        params.address = address;
        params.name = "an endpoint with a name that does not fit into the string itself";
        status = ucp_ep_create(from, &params, &made);
        ucp_worker_release_address(to, address);
    }
    if (status != UCS_OK) ++failed_;
    if (status != UCS_OK && status != UCS_ERR_NO_MEMORY) odd_ = status;
    return made;
}

void session::connect() {
    to_right_ = make_ep(left_, right_);
    to_left_ = make_ep(right_, left_);
}

void session::ended(const operation& which, ucs_status_t status) {
    if (status != UCS_OK) {
        ++failed_;
    } else if (which.received != nullptr &&
               std::memcmp(which.received, data_of(which.tag), which.length) != 0) {
        corrupted_ = true;
    }
}

void session::note(const operation& started_operation, ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) {
        const ucs_status_t status = UCS_PTR_RAW_STATUS(started);
        if (!is_shortage(status)) odd_ = status;
        ended(started_operation, status);
        return;
    }
    operations_[count_] = started_operation;
    operations_[count_++].request = started;
}

void session::send(ucp_ep_h via, std::size_t length, bool sync, ucp_tag_t tag) {
    const ucp_request_param_t none{};
    if (via == nullptr) return;
    const auto call = sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    note({}, call(via, data_of(tag), length, tag, &none));
}

std::byte* session::place(std::size_t length) {
    std::byte* position = receive_memory.data() + room_;
    room_ += length;
    std::memset(position, 0, length);
    return position;
}

void session::receive(ucp_worker_h on, std::size_t length, ucp_tag_t tag, ucp_tag_t mask) {
    const ucp_request_param_t none{};
    std::byte* into = place(length);
    note({.on = on, .received = into, .length = length, .tag = tag},
         ucp_tag_recv_nbx(on, into, length, tag, mask, &none));
}

bool session::look() {
    for (std::size_t i = first_running_; i < count_; ++i) {
        operation& each = operations_[i];
        if (each.request != nullptr) {
            const ucs_status_t status = ucp_request_check_status(each.request);
            if (status == UCS_INPROGRESS) continue;
            ucp_request_free(each.request);
            each.request = nullptr;
            ended(each, status);
        }
        if (i == first_running_) ++first_running_;
    }
    return first_running_ == count_;
}

std::size_t session::running() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = first_running_; i < count_; ++i)
        count += operations_[i].request != nullptr ? 1U : 0U;
    return count;
}

template<class Condition>
void session::until(Condition holds) {
    const auto limit = clock::now() + longest;
    for (unsigned turn = 0; !holds(); ++turn) {
        if (struck() && turn > (stuck_ ? few_turns : last_turns)) {
            stuck_ = true;
            return;
        }
        if (turn % 4096 == 4095 && clock::now() > limit) return;
        progress();
    }
}

void session::wait() {
    until([this] { return look(); });
}

void session::settle() {
    const auto limit = clock::now() + longest;
    for (unsigned turn = 0; !look() && clock::now() < limit; ++turn) {
        if (turn > last_turns && !log_file::instance().empty()) return;
        progress();
    }
}

void session::expect_then_send(std::size_t length, bool sync) {
    const ucp_tag_t tag = ++tag_;
    receive(right_, length, tag);
    send(to_right_, length, sync, tag);
    wait();
}

void session::send_then_expect(std::size_t length, bool sync) {
    const ucp_tag_t tag = ++tag_;
    send(to_right_, length, sync, tag);
    until([&] {
        ucp_tag_recv_info_t info;
        return ucp_tag_probe_nb(right_, tag, all_bits, 0, &info) != nullptr;
    });
    receive(right_, length, tag);
    wait();
}

void session::send_then_probe(std::size_t length) {
    const ucp_tag_t tag = ++tag_;
    send(to_right_, length, false, tag);
    ucp_tag_message_h taken = nullptr;
    until([&] {
        ucp_tag_recv_info_t info;
        taken = ucp_tag_probe_nb(right_, tag, all_bits, 1, &info);
        return taken != nullptr;
    });
    if (taken == nullptr) return;
    const ucp_request_param_t none{};
    std::byte* into = place(length);
    const operation matched{.on = right_, .received = into, .length = length, .tag = tag};
    note(matched, ucp_tag_msg_recv_nbx(right_, into, length, taken, &none));
    wait();
}

// No receive matches these messages. Each gets some turns to arrive.
void session::send_unexpected(std::size_t length, unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
        send(to_right_, length, false, flood_tag + i);
        progress();
    }
}

void session::expect_in_vain(std::size_t length, unsigned times) {
    for (unsigned i = 0; i < times; ++i)
        receive(right_, length, ++tag_);
}

void session::use_many_masks() {
    constexpr unsigned masks = 12;
    const ucp_tag_t first = tag_ + 1;
    for (unsigned i = 0; i < masks; ++i)
        receive(right_, 8, ++tag_, all_bits << 1 << (i + 32) >> (i + 33));
    for (unsigned i = masks; i-- > 0;)
        send(to_right_, 8, false, first + i);
    wait();
}

void session::cancel_a_receive() {
    receive(right_, 8, ++tag_);
    receive(right_, 8, ++tag_);
    if (count_ > 0 && operations_[count_ - 1].tag == tag_) {
        ucp_request_cancel(right_, operations_[count_ - 1].request);
    }
    send(to_right_, 8, false, tag_ - 1);
    wait();
}

void session::fill_lane() {
    const std::size_t before = count_;
    for (unsigned i = 0; count_ < before + 2; ++i)
        send(to_left_, 8000, false, flood_tag + i);
}

void session::answer_through_full_lane() {
    receive(right_, 8, ++tag_);
    receive(right_, longest_message, ++tag_);
    send(to_right_, 8, true, tag_ - 1);
    send(to_right_, longest_message, false, tag_);
    for (unsigned turn = 0; turn < last_turns; ++turn)
        ucp_worker_progress(right_);
}

void session::flush() {
    const ucp_request_param_t none{};
    send(to_right_, 20'000, false, ++tag_);
    if (to_right_ != nullptr) note({}, ucp_ep_flush_nbx(to_right_, &none));
    note({}, ucp_worker_flush_nbx(left_, &none));
    receive(right_, 20'000, tag_);
    wait();
}

void session::close(ucp_ep_h& which, unsigned flags) {
    if (which == nullptr) return;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    note({}, ucp_ep_close_nbx(which, &param));
    which = nullptr;
}

void session::close() {
    close(to_right_, 0);
    close(to_left_, 0);
    wait();
}

}  // namespace exhaustion
