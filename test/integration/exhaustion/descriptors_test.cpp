// Descriptors run out: the library stops at its budget and logs that once, and the program can
// continue.
#include <arpa/inet.h>

#include <algorithm>
#include <vector>

#include "test/integration/exhaustion/context.hpp"
#include "test/support/descriptor_limit.hpp"
#include "ucs/type/unique_fd.hpp"

namespace {

using namespace exhaustion;

constexpr rlim_t limit = 400;
constexpr std::size_t reserve = 64;
constexpr std::size_t most_lines = 24;
constexpr int times = 600;

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

owned_context make_context() {
    owned_context context = exhaustion::make_context(UCP_FEATURE_TAG | UCP_FEATURE_RMA);
    log_file::instance().clear();
    return context;
}

// Returns null if the library refuses the worker.
owned_worker make_worker(const owned_context& context) {
    ucp_worker_params_t params{};
    ucp_worker_h worker = nullptr;
    const ucs_status_t status = ucp_worker_create(context.get(), &params, &worker);
    return owned_worker(status == UCS_OK ? worker : nullptr);
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

// Creates objects, some of which the library must refuse by returning null.
template<class Create>
auto create_too_many(const Create& create) {
    std::vector<decltype(create())> all;
    for (int i = 0; i < times; ++i) {
        if (auto made = create()) all.push_back(std::move(made));
    }
    check_outcome(times - all.size());
    return all;
}

}  // namespace

TEST_CASE("allocated memory takes no descriptor of the reserve and goes on without",
          "[descriptors]") {
    const owned_context context = make_context();
    const test::descriptor_limit few(limit);
    std::vector<ucp_mem_h> all;
    for (int i = 0; i < times; ++i) {
        ucp_mem_map_params_t params{};
        params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        params.length = 4096;
        params.flags = UCP_MEM_MAP_ALLOCATE;
        ucp_mem_h memory = nullptr;
        REQUIRE(ucp_mem_map(context.get(), &params, &memory) == UCS_OK);
        all.push_back(memory);
    }
    INFO(log_file::instance().text());
    CHECK(left_to_program() >= reserve);
    CHECK(lines() <= most_lines);
    for (ucp_mem_h each : all)
        CHECK(ucp_mem_unmap(context.get(), each) == UCS_OK);
}

TEST_CASE("workers are refused before the reserve, and can be made again afterwards",
          "[descriptors]") {
    const owned_context context = make_context();
    const test::descriptor_limit few(limit);
    create_too_many([&] { return make_worker(context); });  // and destroys them
    CHECK(make_worker(context) != nullptr);
}

TEST_CASE("listeners are refused before the reserve", "[descriptors]") {
    const owned_context context = make_context();
    const owned_worker worker = make_worker(context);
    REQUIRE(worker != nullptr);
    const test::descriptor_limit few(limit);
    const sockaddr_in any = loopback(0);
    const auto all = create_too_many([&] {
        ucp_listener_params_t params{};
        params.field_mask =
            UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
        params.sockaddr = {reinterpret_cast<const sockaddr*>(&any), sizeof any};
        params.conn_handler.cb = [](ucp_conn_request_h, void*) {};
        ucp_listener_h made = nullptr;
        const ucs_status_t status = ucp_listener_create(worker.get(), &params, &made);
        return status == UCS_OK ? made : nullptr;
    });
    for (ucp_listener_h each : all)
        ucp_listener_destroy(each);
}

TEST_CASE("clients that no server accepts are refused or wait before the reserve",
          "[descriptors]") {
    const owned_context context = make_context();
    const owned_worker worker = make_worker(context);
    const ucs::unique_fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(silent.get(), 1024) == 0);
    REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    const test::descriptor_limit few(limit);
    std::size_t failed = 0;
    std::vector<ucp_ep_h> all;
    for (int i = 0; i < times; ++i) {
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler = {
            [](void* count, ucp_ep_h, ucs_status_t) { ++*static_cast<std::size_t*>(count); },
            &failed};
        params.sockaddr = {reinterpret_cast<const sockaddr*>(&address), length};
        ucp_ep_h made = nullptr;
        if (ucp_ep_create(worker.get(), &params, &made) == UCS_OK)
            all.push_back(made);
        else
            ++failed;
        ucp_worker_progress(worker.get());
    }
    for (int turn = 0; turn < 10'000; ++turn)
        ucp_worker_progress(worker.get());
    check_outcome(failed);
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    for (ucp_ep_h each : all) {
        const ucs_status_ptr_t closing = ucp_ep_close_nbx(each, &force);
        while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS)
            ucp_worker_progress(worker.get());
        if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
    }
}

TEST_CASE("calls that a program repeats with wrong arguments do not fill the log",
          "[descriptors]") {
    const owned_context context = make_context();
    ucp_request_param_t device{};
    device.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    device.memory_type = UCS_MEMORY_TYPE_CUDA;
    const owned_worker worker = make_worker(context);
    char byte = 0;
    for (int i = 0; i < 10'000; ++i) {
        CHECK(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(worker.get(), &byte, 1, 1, 1, &device)) ==
              UCS_ERR_UNSUPPORTED);
        CHECK(ucp_worker_create(context.get(), nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    }
    INFO(log_file::instance().text());
    CHECK(lines() >= 2);
    CHECK(lines() <= most_lines);
}
