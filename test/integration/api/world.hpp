// Two workers of one process, and the operations that tests do with them. Uses only the public C
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ucp/api/ucp.h"

namespace api {

// Values that a completion callback received.
struct outcome {
    int calls = 0;
    void* handle = nullptr;
    ucs_status_t status = UCS_INPROGRESS;
    ucp_tag_recv_info_t info{};
};

// Callbacks that fill an `outcome`, which is their user data.
void record_send(void* request, ucs_status_t status, void* user_data);
void record_recv(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                 void* user_data);

// Parameters of an operation; the calls can be chained.
struct params : ucp_request_param_t {
    params() : ucp_request_param_t{} {}
    params& flag(std::uint32_t bits) {
        op_attr_mask |= bits;
        return *this;
    }
    params& on_send(outcome& result) {
        cb.send = record_send;
        user_data = &result;
        return flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    }
    params& on_recv(outcome& result) {
        cb.recv = record_recv;
        user_data = &result;
        return flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    }
    params& type(ucp_datatype_t value) {
        datatype = value;
        return flag(UCP_OP_ATTR_FIELD_DATATYPE);
    }
    // Flags of the function, if they are wanted.
    params& flags_of_call(unsigned value, bool wanted = true) {
        flags = wanted ? value : 0;
        return flag(UCP_OP_ATTR_FIELD_FLAGS);
    }
    params& request_memory(void* memory) {
        request = memory;
        return flag(UCP_OP_ATTR_FIELD_REQUEST);
    }
    params& info_to(ucp_tag_recv_info_t& info) {
        recv_info.tag_info = &info;
        return flag(UCP_OP_ATTR_FIELD_RECV_INFO);
    }
};

inline const params none;
constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};

using settings = std::vector<std::pair<std::string, std::string>>;

// Options of a world.
struct world_options {
    settings config;
    std::size_t request_size = 0;
    ucp_request_init_callback_t init = nullptr;
    ucp_request_cleanup_callback_t cleanup = nullptr;
    ucs_thread_mode_t threads = UCS_THREAD_MODE_SINGLE;
    std::uint64_t worker_flags = 0;
    bool connect = true;  // exchange a message, so that the endpoints are connected
    std::uint64_t features = UCP_FEATURE_TAG;
    std::size_t am_alignment = 0;  // 0: not requested
};

// Returns world options with these settings.
inline world_options configured(settings config) {
    world_options options;
    options.config = std::move(config);
    return options;
}

using condition = std::function<bool()>;

// Workers that a test drives.
class workers {
public:
    virtual ~workers() = default;
    virtual unsigned progress() const = 0;
    // Makes progress until the condition holds. Returns false if it does not hold for two minutes.
    [[nodiscard]] bool progress_until(const condition& holds) const;
    void progress_often(unsigned turns) const;
    // Waits for the end of an operation, frees its request and returns its status.
    ucs_status_t finish(ucs_status_ptr_t started) const;
    // Likewise in a thread, where Catch2's macros do not work. Returns 1 if the operation failed.
    int count_failure(ucs_status_ptr_t started) const;
    // Sends bytes over the endpoint to the worker, and checks what it receives.
    void exchange(ucp_ep_h ep, ucp_worker_h to, std::size_t length, ucp_tag_t tag = 77) const;
};

// A context with a sending and a receiving worker. Both are the same worker if the transports reach
// only the worker itself (UCX_TLS=self).
class world : public workers {
public:
    explicit world(const world_options& options = {});
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    ucp_context_h context = nullptr;
    ucp_worker_h sender = nullptr;
    ucp_worker_h receiver = nullptr;
    ucp_ep_h ep = nullptr;  // from the sender to the receiver

    [[nodiscard]] bool loopback() const { return sender == receiver; }
    unsigned progress() const override;

    // Waits until the message can be probed.
    ucp_tag_recv_info_t await_unexpected(ucp_tag_t tag) const;
    void send(const void* data, std::size_t length, ucp_tag_t tag) const;
    // Receives bytes and waits for the end.
    ucp_tag_recv_info_t recv(void* data, std::size_t length, ucp_tag_t tag) const;
    void close(ucp_ep_h endpoint, bool force = false) const;
    // Destroys everything early, for tests of the output.
    void destroy();
};

ucp_context_h make_context(const world_options& options);
ucp_worker_h make_worker(ucp_context_h context, const world_options& options = {});
ucp_ep_h make_ep(ucp_worker_h from, ucp_worker_h to, std::uint64_t flags = 0);
std::vector<std::byte> address_of(ucp_worker_h worker);
// Parameters of an endpoint to a worker's address, which must outlive them.
ucp_ep_params_t ep_params_for(const void* address);
// Likewise, with an error handler, which may be null.
ucp_ep_params_t ep_params_for(const void* address, ucp_err_handler_cb_t handler, void* arg);
ucp_ep_h create_ep(ucp_worker_h from, const ucp_ep_params_t& params);
// Parameters of a context with tagged messages.
ucp_params_t tag_params();
// Returns the attributes of the worker that the mask names.
ucp_worker_attr_t attributes_of(ucp_worker_h worker, std::uint64_t mask);
// Returns the size of the library's part of a request.
std::size_t request_bytes(ucp_context_h context);
// A handler without a callback is removed.
void set_am_handler(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t callback, void* arg,
                    std::uint32_t flags = 0);
bool only_self();

// Captures the standard streams, and with them the library's log, until the end of its scope.
class captured_output {
public:
    captured_output();
    ~captured_output();
    captured_output(const captured_output&) = delete;
    captured_output& operator=(const captured_output&) = delete;
    // Restores the streams and returns the captured text.
    const std::string& text();

private:
    int saved_[2]{-1, -1};
    int file_ = -1;
    std::string text_;
};

// Memory that ends directly before a page without access.
class guarded_memory {
public:
    explicit guarded_memory(std::size_t size);
    ~guarded_memory();
    guarded_memory(const guarded_memory&) = delete;
    guarded_memory& operator=(const guarded_memory&) = delete;
    [[nodiscard]] void* get() const { return address_; }

private:
    void* pages_ = nullptr;
    std::size_t length_ = 0;
    void* address_ = nullptr;
};

// Returns the text that a print function writes.
std::string printed(const std::function<void(FILE*)>& print);

// Bytes that depend on the seed.
std::vector<std::byte> pattern(std::size_t length, unsigned seed = 1);

}  // namespace api
