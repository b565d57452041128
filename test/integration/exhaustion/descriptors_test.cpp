// Descriptors run out: the library stops at its budget and logs that once, and the program can
// continue.
#include <arpa/inet.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "test/integration/exhaustion/log_file.hpp"

namespace {

using exhaustion::log_file;

constexpr rlim_t limit = 400;
constexpr std::size_t reserve = 64;
constexpr std::size_t most_lines = 24;
constexpr int times = 600;

// Sets a low limit of descriptors during its lifetime.
class few_descriptors {
public:
    few_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit lower{limit, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
    }
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

private:
    rlimit before_{};
};

// Number of files that the program could open now.
std::size_t left_to_program() {
    std::vector<int> taken;
    for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY))
        taken.push_back(fd);
    for (const int fd : taken)
        ::close(fd);
    return taken.size();
}

std::size_t lines() {
    const std::string text = log_file::instance().text();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

ucp_context_h make_context() {
    log_file::instance();
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA;
    ucp_context_h context = nullptr;
    REQUIRE(ucp_init(&params, nullptr, &context) == UCS_OK);
    log_file::instance().clear();
    return context;
}

ucp_worker_h make_worker(ucp_context_h context) {
    ucp_worker_params_t params{};
    ucp_worker_h worker = nullptr;
    return ucp_worker_create(context, &params, &worker) == UCS_OK ? worker : nullptr;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// Checks a program that tried to create one object too many, `refused` times.
void check_outcome(std::size_t refused) {
    INFO(log_file::instance().text());
    CHECK(refused > 1);
    CHECK(left_to_program() >= reserve);
    CHECK(lines() >= 1);
    CHECK(lines() <= most_lines);
}

}  // namespace

TEST_CASE("allocated memory takes no descriptor of the reserve and goes on without",
          "[descriptors]") {
    const ucp_context_h context = make_context();
    {
        const few_descriptors few;
        std::vector<ucp_mem_h> all;
        for (int i = 0; i < times; ++i) {
            ucp_mem_map_params_t params{};
            params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
            params.length = 4096;
            params.flags = UCP_MEM_MAP_ALLOCATE;
            ucp_mem_h memory = nullptr;
            REQUIRE(ucp_mem_map(context, &params, &memory) == UCS_OK);
            all.push_back(memory);
        }
        INFO(log_file::instance().text());
        CHECK(left_to_program() >= reserve);
        CHECK(lines() <= most_lines);
        for (ucp_mem_h each : all)
            CHECK(ucp_mem_unmap(context, each) == UCS_OK);
    }
    ucp_cleanup(context);
}

TEST_CASE("workers are refused before the reserve, and can be made again afterwards",
          "[descriptors]") {
    const ucp_context_h context = make_context();
    std::size_t refused = 0;
    std::vector<ucp_worker_h> all;
    {
        const few_descriptors few;
        for (int i = 0; i < times; ++i) {
            if (ucp_worker_h made = make_worker(context); made != nullptr)
                all.push_back(made);
            else
                ++refused;
        }
        check_outcome(refused);
        for (ucp_worker_h each : all)
            ucp_worker_destroy(each);
        const ucp_worker_h again = make_worker(context);
        CHECK(again != nullptr);
        if (again != nullptr) ucp_worker_destroy(again);
    }
    ucp_cleanup(context);
}

TEST_CASE("listeners are refused before the reserve", "[descriptors]") {
    const ucp_context_h context = make_context();
    const ucp_worker_h worker = make_worker(context);
    REQUIRE(worker != nullptr);
    {
        const few_descriptors few;
        std::size_t refused = 0;
        std::vector<ucp_listener_h> all;
        const sockaddr_in any = loopback(0);
        for (int i = 0; i < times; ++i) {
            ucp_listener_params_t params{};
            params.field_mask =
                UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
            params.sockaddr = {reinterpret_cast<const sockaddr*>(&any), sizeof any};
            params.conn_handler.cb = [](ucp_conn_request_h, void*) {};
            ucp_listener_h made = nullptr;
            if (ucp_listener_create(worker, &params, &made) == UCS_OK)
                all.push_back(made);
            else
                ++refused;
        }
        check_outcome(refused);
        for (ucp_listener_h each : all)
            ucp_listener_destroy(each);
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

TEST_CASE("clients that no server accepts are refused or wait before the reserve",
          "[descriptors]") {
    const ucp_context_h context = make_context();
    const ucp_worker_h worker = make_worker(context);
    const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    REQUIRE(::bind(silent, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(silent, 1024) == 0);
    REQUIRE(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    {
        const few_descriptors few;
        std::size_t failed = 0;
        std::vector<ucp_ep_h> all;
        for (int i = 0; i < times; ++i) {
            ucp_ep_params_t params{};
            params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                UCP_EP_PARAM_FIELD_ERR_HANDLER;
            params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
            params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
            params.err_handler = {
                [](void* count, ucp_ep_h, ucs_status_t) { ++*static_cast<std::size_t*>(count); },
                &failed};
            params.sockaddr = {reinterpret_cast<const sockaddr*>(&address), length};
            ucp_ep_h made = nullptr;
            if (ucp_ep_create(worker, &params, &made) == UCS_OK)
                all.push_back(made);
            else
                ++failed;
            ucp_worker_progress(worker);
        }
        for (int turn = 0; turn < 10'000; ++turn)
            ucp_worker_progress(worker);
        check_outcome(failed);
        ucp_request_param_t force{};
        force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        for (ucp_ep_h each : all) {
            const ucs_status_ptr_t closing = ucp_ep_close_nbx(each, &force);
            while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS)
                ucp_worker_progress(worker);
            if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
        }
    }
    ::close(silent);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

TEST_CASE("calls that a program repeats with wrong arguments do not fill the log",
          "[descriptors]") {
    const ucp_context_h context = make_context();
    ucp_request_param_t device{};
    device.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    device.memory_type = UCS_MEMORY_TYPE_CUDA;
    const ucp_worker_h worker = make_worker(context);
    char byte = 0;
    for (int i = 0; i < 10'000; ++i) {
        CHECK(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(worker, &byte, 1, 1, 1, &device)) ==
              UCS_ERR_UNSUPPORTED);
        CHECK(ucp_worker_create(context, nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    }
    INFO(log_file::instance().text());
    CHECK(lines() >= 2);
    CHECK(lines() <= most_lines);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}
