#include "test/integration/api/world.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace api {

void record_send(void* request, ucs_status_t status, void* user_data) {
    auto& result = *static_cast<outcome*>(user_data);
    ++result.calls;
    result.handle = request;
    result.status = status;
}

void record_recv(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                 void* user_data) {
    record_send(request, status, user_data);
    static_cast<outcome*>(user_data)->info = *info;
}

bool only_self() {
    const char* transports = std::getenv("UCX_TLS");
    return transports != nullptr && std::strcmp(transports, "self") == 0;
}

ucp_context_h make_context(const world_options& options) {
    ucp_config_t* config = nullptr;
    REQUIRE(ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
    for (const auto& [name, value] : options.config) {
        INFO(name << "=" << value);
        REQUIRE(ucp_config_modify(config, name.c_str(), value.c_str()) == UCS_OK);
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                        UCP_PARAM_FIELD_REQUEST_INIT | UCP_PARAM_FIELD_REQUEST_CLEANUP;
    params.features = options.features;
    params.request_size = options.request_size;
    params.request_init = options.init;
    params.request_cleanup = options.cleanup;
    ucp_context_h context = nullptr;
    REQUIRE(ucp_init(&params, config, &context) == UCS_OK);
    ucp_config_release(config);
    return context;
}

ucp_worker_h make_worker(ucp_context_h context, const world_options& options) {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
    params.thread_mode = options.threads;
    params.flags = options.worker_flags;
    if (options.am_alignment != 0) {
        params.field_mask |= UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
        params.am_alignment = options.am_alignment;
    }
    ucp_worker_h worker = nullptr;
    REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
    return worker;
}

std::vector<std::byte> address_of(ucp_worker_h worker) {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    REQUIRE(ucp_worker_get_address(worker, &address, &length) == UCS_OK);
    const auto* bytes = reinterpret_cast<const std::byte*>(address);
    std::vector<std::byte> copy(bytes, bytes + length);
    ucp_worker_release_address(worker, address);
    return copy;
}

ucp_ep_h make_ep(ucp_worker_h from, ucp_worker_h to, std::uint64_t flags) {
    const auto address = address_of(to);
    ucp_ep_params_t params = ep_params_for(address.data());
    params.field_mask |= UCP_EP_PARAM_FIELD_FLAGS;
    params.flags = static_cast<unsigned>(flags);
    return create_ep(from, params);
}

world::world(const world_options& options) {
    context = make_context(options);
    sender = make_worker(context, options);
    receiver = only_self() ? sender : make_worker(context, options);
    ep = make_ep(sender, receiver);
    if (!options.connect) return;
    const char hello = 1;
    char byte = 0;
    // The send need not end before the receive is posted: rendezvous may be forced even here.
    const ucs_status_ptr_t sending = ucp_tag_send_nbx(ep, &hello, 1, all_bits, &none);
    recv(&byte, 1, all_bits);
    REQUIRE(finish(sending) == UCS_OK);
    REQUIRE(finish(ucp_ep_flush_nbx(ep, &none)) == UCS_OK);
}

world::~world() {
    destroy();
}

void world::destroy() {
    if (context == nullptr) return;
    if (ep != nullptr) close(ep);
    ep = nullptr;
    if (!loopback()) ucp_worker_destroy(receiver);
    ucp_worker_destroy(sender);
    ucp_cleanup(context);
    context = nullptr;
}

unsigned world::progress() const {
    unsigned events = ucp_worker_progress(sender);
    if (!loopback()) events += ucp_worker_progress(receiver);
    return events;
}

bool workers::progress_until(const condition& holds) const {
    // This limit only prevents hanging. It is not measured.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    for (std::uint64_t turn = 1; !holds(); ++turn) {
        progress();
        if (turn % 4096 == 0 && std::chrono::steady_clock::now() > limit) return false;
    }
    return true;
}

void workers::progress_often(unsigned turns) const {
    for (unsigned i = 0; i < turns; ++i)
        progress();
}

int workers::count_failure(ucs_status_ptr_t started) const {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started) == UCS_OK ? 0 : 1;
    for (unsigned turn = 1; ucp_request_check_status(started) == UCS_INPROGRESS; ++turn) {
        progress();
        if (turn % 64 == 0) ::sched_yield();
    }
    const int failures = ucp_request_check_status(started) == UCS_OK ? 0 : 1;
    ucp_request_free(started);
    return failures;
}

void workers::exchange(ucp_ep_h ep, ucp_worker_h to, std::size_t length, ucp_tag_t tag) const {
    const auto data = pattern(length, static_cast<unsigned>(tag));
    std::vector<std::byte> into(length);
    const auto receiving = ucp_tag_recv_nbx(to, into.data(), length, tag, all_bits, &none);
    const auto sending = ucp_tag_send_nbx(ep, data.data(), length, tag, &none);
    REQUIRE(finish(receiving) == UCS_OK);
    REQUIRE(finish(sending) == UCS_OK);
    REQUIRE(into == data);
}

ucs_status_t workers::finish(ucs_status_ptr_t started) const {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
    REQUIRE(progress_until([&] { return ucp_request_check_status(started) != UCS_INPROGRESS; }));
    const ucs_status_t status = ucp_request_check_status(started);
    ucp_request_free(started);
    return status;
}

ucp_tag_recv_info_t world::await_unexpected(ucp_tag_t tag) const {
    ucp_tag_recv_info_t info{};
    REQUIRE(progress_until(
        [&] { return ucp_tag_probe_nb(receiver, tag, all_bits, 0, &info) != nullptr; }));
    return info;
}

void world::send(const void* data, std::size_t length, ucp_tag_t tag) const {
    REQUIRE(finish(ucp_tag_send_nbx(ep, data, length, tag, &none)) == UCS_OK);
}

ucp_tag_recv_info_t world::recv(void* data, std::size_t length, ucp_tag_t tag) const {
    outcome got;
    const params options = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    REQUIRE(finish(ucp_tag_recv_nbx(receiver, data, length, tag, all_bits, &options)) == UCS_OK);
    REQUIRE(got.calls == 1);
    return got.info;
}

void world::close(ucp_ep_h endpoint, bool force) const {
    const params options = params().flags_of_call(UCP_EP_CLOSE_FLAG_FORCE, force);
    REQUIRE(finish(ucp_ep_close_nbx(endpoint, &options)) == UCS_OK);
}

ucp_ep_params_t ep_params_for(const void* address) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = static_cast<const ucp_address_t*>(address);
    return params;
}

ucp_ep_params_t ep_params_for(const void* address, ucp_err_handler_cb_t handler, void* arg) {
    ucp_ep_params_t params = ep_params_for(address);
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {handler, arg};
    return params;
}

ucp_ep_h create_ep(ucp_worker_h from, const ucp_ep_params_t& params) {
    ucp_ep_h made = nullptr;
    REQUIRE(ucp_ep_create(from, &params, &made) == UCS_OK);
    return made;
}

ucp_params_t tag_params() {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    return params;
}

ucp_worker_attr_t attributes_of(ucp_worker_h worker, std::uint64_t mask) {
    ucp_worker_attr_t attr{};
    attr.field_mask = mask;
    REQUIRE(ucp_worker_query(worker, &attr) == UCS_OK);
    return attr;
}

std::size_t request_bytes(ucp_context_h context) {
    ucp_context_attr_t attr{};
    attr.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
    REQUIRE(ucp_context_query(context, &attr) == UCS_OK);
    return attr.request_size;
}

void set_am_handler(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t callback, void* arg,
                    std::uint32_t flags) {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
    param.id = id;
    param.flags = flags;
    param.cb = callback;
    param.arg = arg;
    REQUIRE(ucp_worker_set_am_recv_handler(worker, &param) == UCS_OK);
}

captured_output::captured_output() {
    std::fflush(nullptr);
    file_ = ::memfd_create("captured", 0);
    for (int stream : {0, 1}) {
        saved_[stream] = ::dup(stream + 1);
        ::dup2(file_, stream + 1);
    }
}

captured_output::~captured_output() {
    text();
}

const std::string& captured_output::text() {
    if (file_ < 0) return text_;
    std::fflush(nullptr);
    for (int stream : {0, 1}) {
        ::dup2(saved_[stream], stream + 1);
        ::close(saved_[stream]);
    }
    text_.resize(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)));
    const ssize_t got = ::pread(file_, text_.data(), text_.size(), 0);
    text_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ::close(file_);
    file_ = -1;
    return text_;
}

guarded_memory::guarded_memory(std::size_t size) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t front = (size + page - 1) / page * page;
    length_ = front + page;
    pages_ = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(::mprotect(static_cast<std::byte*>(pages_) + front, page, PROT_NONE) == 0);
    address_ = static_cast<std::byte*>(pages_) + front - size;
}

guarded_memory::~guarded_memory() {
    ::munmap(pages_, length_);
}

std::string printed(const std::function<void(FILE*)>& print) {
    char* text = nullptr;
    std::size_t length = 0;
    FILE* stream = ::open_memstream(&text, &length);
    REQUIRE(stream != nullptr);
    print(stream);
    std::fclose(stream);
    std::string copy(text, length);
    std::free(text);
    return copy;
}

std::vector<std::byte> pattern(std::size_t length, unsigned seed) {
    std::vector<std::byte> bytes(length);
    std::uint32_t state = seed * 2654435761U + 12345U;
    for (std::byte& each : bytes) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

}  // namespace api
