#include "tools/info/ucp_objects.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tools/common/failure.hpp"
#include "tools/common/ticks.hpp"

namespace tools::info {
namespace {

void require_ok(ucs_status_t status, std::string_view call) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", call, ucs_status_string(status)));
}

double resident_megabytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    statm >> total >> resident;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return static_cast<double>(resident) * page / (1024.0 * 1024.0);
}

int open_descriptors() {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
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

// The transports that -D and -P leave; nullptr for all.
const char* transports_of(const options& wanted) {
    switch (wanted.kinds) {
        case device_kind::shm:
            return "sm";
        case device_kind::net:
            return "^self,sm";
        case device_kind::self:
            return "self";
        case device_kind::all:
            break;
    }
    if (wanted.peer == placement::inter) return "^self,sm";
    return wanted.peer == placement::intra ? "^self" : nullptr;
}

}  // namespace

ucp_objects::ucp_objects(const options& wanted) {
    context_cost_ = cost_of([&] { create_context(wanted); });
    try {
        worker_cost_ = cost_of([&] { create_worker(); });
    } catch (...) {
        ucp_cleanup(context_);
        throw;
    }
}

ucp_objects::~ucp_objects() {
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
}

void ucp_objects::create_context(const options& wanted) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
    params.features = wanted.features.value_or(0);
    params.estimated_num_eps = wanted.endpoints;
    params.estimated_num_ppn = wanted.endpoints_per_node;
    ucp_config_t* config = nullptr;
    require_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    ucs_status_t status = UCS_OK;
    if (const char* transports = transports_of(wanted); transports != nullptr) {
        status = ucp_config_modify(config, "TLS", transports);
    }
    if (status == UCS_OK) status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    require_ok(status, "ucp_init");
}

void ucp_objects::create_worker() {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SINGLE;
    require_ok(ucp_worker_create(context_, &params, &worker_), "ucp_worker_create");
}

std::vector<std::byte> ucp_objects::address() const {
    ucp_address_t* packed = nullptr;
    std::size_t length = 0;
    require_ok(ucp_worker_get_address(worker_, &packed, &length), "ucp_worker_get_address");
    const auto* bytes = reinterpret_cast<const std::byte*>(packed);
    std::vector<std::byte> copy(bytes, bytes + length);
    ucp_worker_release_address(worker_, packed);
    return copy;
}

}  // namespace tools::info
