#include "tools/info/ucp_objects.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"
#include "tools/common/ticks.hpp"
#include "tools/info/transport_list.hpp"

namespace tools::info {

std::string printed_config(const ucp_config_t* config, const char* title, unsigned flags) {
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&buffer, &size);
    if (stream == nullptr) throw failure("open_memstream: out of memory");
    ucp_config_print(config, stream, title, static_cast<ucs_config_print_flags_t>(flags));
    std::fclose(stream);
    const std::unique_ptr<char, decltype(&std::free)> owner(buffer, &std::free);
    return {buffer, size};
}

std::string printed_value(const ucp_config_t* config, std::string_view name) {
    const std::string text = printed_config(config, nullptr, UCS_CONFIG_PRINT_CONFIG);
    for (std::string_view line : split(text, '\n')) {
        if (!line.starts_with(name)) continue;
        line.remove_prefix(name.size());
        if (line.starts_with('=')) return std::string(line.substr(1));
    }
    return {};
}

namespace {

double resident_megabytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    statm >> total >> resident;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return static_cast<double>(resident) * page / (1024.0 * 1024.0);
}

int open_descriptors() {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

template<class Action>
cost cost_of(Action&& action) {
    const double memory = resident_megabytes();
    const int descriptors = open_descriptors();
    const std::uint64_t start = monotonic_ns();
    action();
    const std::uint64_t end = monotonic_ns();
    return {static_cast<double>(end - start) * 1e-6, resident_megabytes() - memory,
            open_descriptors() - descriptors};
}

// Restricts UCX_TLS to the transports that the command line allows, and describes the change. The
// user's own choice still applies.
ucs_status_t restrict_transports(ucp_config_t* config, const options& opts,
                                 std::string& description) {
    const restriction requested = restriction_of(opts);
    if (requested.reason.empty()) return UCS_OK;
    const std::string before = printed_value(config, "UCX_TLS");
    const transport_list chosen = transport_list::parse(before);
    const std::string allowed = intersection(chosen, requested.allowed).text();
    if (allowed.empty()) {
        throw failure(
            fmt::format("{} leaves no transport of UCX_TLS={}", requested.reason, before));
    }
    if (allowed == chosen.text()) return UCS_OK;
    description =
        fmt::format("{} makes UCX_TLS={} out of UCX_TLS={}", requested.reason, allowed, before);
    return ucp_config_modify(config, "TLS", allowed.c_str());
}

}  // namespace

ucp_objects::ucp_objects(const options& opts) {
    context_cost_ = cost_of([&] { create_context(opts); });
    worker_cost_ = cost_of([&] { create_worker(); });
}

void ucp_objects::create_context(const options& opts) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
    params.features = opts.features;
    params.estimated_num_eps = opts.endpoints;
    params.estimated_num_ppn = opts.endpoints_per_node;
    ucp_config_t* config = nullptr;
    require_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const std::unique_ptr<ucp_config_t, release> owner(config);
    require_ok(restrict_transports(config, opts, restriction_), "ucp_config_modify");
    ucp_context_h context = nullptr;
    require_ok(ucp_init(&params, config, &context), "ucp_init");
    context_.reset(context);
}

void ucp_objects::create_worker() {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SINGLE;
    ucp_worker_h worker = nullptr;
    require_ok(ucp_worker_create(context_.get(), &params, &worker), "ucp_worker_create");
    worker_.reset(worker);
}

std::vector<std::byte> ucp_objects::address() const {
    ucp_address_t* packed = nullptr;
    std::size_t length = 0;
    require_ok(ucp_worker_get_address(worker(), &packed, &length), "ucp_worker_get_address");
    const auto* bytes = reinterpret_cast<const std::byte*>(packed);
    std::vector<std::byte> copy(bytes, bytes + length);
    ucp_worker_release_address(worker(), packed);
    return copy;
}

namespace {

constexpr std::size_t max_address = 65536;

// Time limits for the start of the child, and for its end after its release.
constexpr int start_limit_ms = 30'000;
constexpr int end_limit_ms = 5'000;

bool is_released(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
}

[[noreturn]] void serve(const options& opts, int fd) {
    try {
        const ucp_objects own(opts);
        const std::vector<std::byte> address = own.address();
        if (::send(fd, address.data(), address.size(), MSG_NOSIGNAL) > 0) {
            while (!is_released(fd))
                ucp_worker_progress(own.worker());
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "ucx_info: peer process: {}\n", error.what());
    }
    std::_Exit(0);
}

}  // namespace

peer_process::peer_process(const options& opts) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        throw failure(fmt::format("socketpair: {}", std::strerror(errno)));
    }
    channel_.reset(fds[0]);
    const ucs::unique_fd child_end(fds[1]);
    child_ = ::fork();
    if (child_ < 0) throw failure(fmt::format("fork: {}", std::strerror(errno)));
    if (child_ != 0) return;
    channel_.reset();
    serve(opts, child_end.get());
}

peer_process::~peer_process() {
    if (child_ <= 0) {
        channel_.reset();
        return;
    }
    // The child's end of the channel closes when the child ends.
    ::shutdown(channel_.get(), SHUT_WR);
    pollfd ended{channel_.get(), POLLRDHUP, 0};
    if (::poll(&ended, 1, end_limit_ms) == 0) {
        fmt::print(stderr, "ucx_info: the peer process {} does not end; it is killed\n", child_);
        ::kill(child_, SIGKILL);
    }
    channel_.reset();
    ::waitpid(child_, nullptr, 0);
}

std::vector<std::byte> peer_process::address() const {
    pollfd ready{channel_.get(), POLLIN, 0};
    if (::poll(&ready, 1, start_limit_ms) == 0) {
        throw failure(fmt::format("the peer process {} did not start within {} s", child_,
                                  start_limit_ms / 1000));
    }
    std::vector<std::byte> bytes(max_address);
    const ssize_t length = ::recv(channel_.get(), bytes.data(), bytes.size(), 0);
    if (length <= 0) throw failure("the peer process did not start");
    bytes.resize(static_cast<std::size_t>(length));
    return bytes;
}

}  // namespace tools::info
