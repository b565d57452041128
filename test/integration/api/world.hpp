// Two workers of one process and what tests do with them, through the public C interface only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ucp/api/ucp.h"

namespace api {

// What a callback was told.
struct outcome {
    int calls = 0;
    void* handle = nullptr;
    ucs_status_t status = UCS_INPROGRESS;
    ucp_tag_recv_info_t info{};
};

// Callbacks whose user data is an outcome.
void note_send(void* request, ucs_status_t status, void* user_data);
void note_recv(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
               void* user_data);

// Parameters of an operation, put together by chaining.
struct params : ucp_request_param_t {
    params() : ucp_request_param_t{} {}
    params& flag(std::uint32_t bits) {
        op_attr_mask |= bits;
        return *this;
    }
    params& on_send(outcome& into) {
        cb.send = note_send;
        user_data = &into;
        return flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    }
    params& on_recv(outcome& into) {
        cb.recv = note_recv;
        user_data = &into;
        return flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    }
    params& type(ucp_datatype_t which) {
        datatype = which;
        return flag(UCP_OP_ATTR_FIELD_DATATYPE);
    }
    params& in(void* memory) {
        request = memory;
        return flag(UCP_OP_ATTR_FIELD_REQUEST);
    }
    params& info_to(ucp_tag_recv_info_t& info) {
        recv_info.tag_info = &info;
        return flag(UCP_OP_ATTR_FIELD_RECV_INFO);
    }
};

using settings = std::vector<std::pair<std::string, std::string>>;

// How to make a world.
struct plan {
    settings config;
    std::size_t request_size = 0;
    ucp_request_init_callback_t init = nullptr;
    ucp_request_cleanup_callback_t cleanup = nullptr;
    ucs_thread_mode_t threads = UCS_THREAD_MODE_SINGLE;
    std::uint64_t worker_flags = 0;
    bool connect = true;  // exchange a message, so that the endpoints stand
    std::uint64_t features = UCP_FEATURE_TAG;
    std::size_t am_alignment = 0;  // 0: not asked for
};

// A world with these options.
inline plan configured(settings config) {
    plan how;
    how.config = std::move(config);
    return how;
}

// Progresses until the condition holds; false when that does not happen for very long.
using condition = std::function<bool()>;

// A context with a sending and a receiving worker. Where the transports reach only the worker
// itself (UCX_TLS=self) both are the same one.
class world {
public:
    explicit world(const plan& how = {});
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    ucp_context_h context = nullptr;
    ucp_worker_h sender = nullptr;
    ucp_worker_h receiver = nullptr;
    ucp_ep_h ep = nullptr;  // of the sender, to the receiver

    [[nodiscard]] bool loopback() const { return sender == receiver; }
    unsigned progress() const;
    bool until(const condition& holds) const;

    // The end of an operation: status of what a call returned, its request freed.
    ucs_status_t finish(ucs_status_ptr_t started) const;
    // Waits until the message can be probed.
    ucp_tag_recv_info_t await_unexpected(ucp_tag_t tag) const;
    void send(const void* data, std::size_t length, ucp_tag_t tag) const;
    // A blocking receive of bytes.
    ucp_tag_recv_info_t recv(void* data, std::size_t length, ucp_tag_t tag) const;
    void close(ucp_ep_h which, bool force = false) const;
    // Ends everything early, for tests of what that prints.
    void destroy();

    [[nodiscard]] std::size_t request_bytes() const;
};

ucp_context_h make_context(const plan& how);
ucp_worker_h make_worker(ucp_context_h context, const plan& how = {});
ucp_ep_h make_ep(ucp_worker_h from, ucp_worker_h to, std::uint64_t flags = 0);
std::vector<std::byte> address_of(ucp_worker_h worker);
bool only_self();

// What goes to the standard streams while it lives, the library's log among it.
class captured_output {
public:
    captured_output();
    ~captured_output();
    captured_output(const captured_output&) = delete;
    captured_output& operator=(const captured_output&) = delete;
    // Puts the streams back; what was written.
    const std::string& text();

private:
    int saved_[2]{-1, -1};
    int file_ = -1;
    std::string text_;
};

// Memory that ends right before a page that nobody may touch.
class guarded_memory {
public:
    explicit guarded_memory(std::size_t size);
    ~guarded_memory();
    guarded_memory(const guarded_memory&) = delete;
    guarded_memory& operator=(const guarded_memory&) = delete;
    [[nodiscard]] void* get() const { return place_; }

private:
    void* pages_ = nullptr;
    std::size_t length_ = 0;
    void* place_ = nullptr;
};

// What a print function writes.
std::string printed(const std::function<void(FILE*)>& print);

// Bytes that depend on the seed.
std::vector<std::byte> pattern(std::size_t length, unsigned seed);

}  // namespace api
