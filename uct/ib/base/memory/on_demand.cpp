#include "uct/ib/base/memory/on_demand.hpp"

#include <atomic>

#include "uct/base/log.hpp"
#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::ib {

namespace {

struct ability {
    std::uint32_t bit;
    const char* name;
};
constexpr ability send{IBV_ODP_SUPPORT_SEND, "send"};
constexpr ability write{IBV_ODP_SUPPORT_WRITE, "write"};
constexpr ability read{IBV_ODP_SUPPORT_READ, "read"};
constexpr ability atomic{IBV_ODP_SUPPORT_ATOMIC, "atomic"};

void require(std::string& missing, const char* transport, std::uint32_t can,
             const ability& needed) {
    if ((can & needed.bit) != 0) return;
    if (!missing.empty()) missing += ", ";
    missing.append(transport).append(": ").append(needed.name);
}

}  // namespace

ibv_odp_caps on_demand_abilities(ibv_context& device) noexcept {
    ibv_device_attr_ex all{};
    return ibv_query_device_ex(&device, nullptr, &all) == 0 ? all.odp_caps : ibv_odp_caps{};
}

// Received messages lie in the library's own memory, which is pinned.
std::string missing_on_demand(const ibv_odp_caps& can, bool with_atomics) {
    if ((can.general_caps & IBV_ODP_SUPPORT) == 0) return "all of it";
    std::string missing;
    const std::uint32_t reliable = can.per_transport_caps.rc_odp_caps;
    require(missing, "RC", reliable, send);
    require(missing, "RC", reliable, write);
    require(missing, "RC", reliable, read);
    if (with_atomics) require(missing, "RC", reliable, atomic);
    require(missing, "UD", can.per_transport_caps.ud_odp_caps, send);
    return missing;
}

bool registers_on_demand(ucs::config::ternary wanted, ibv_context& device, bool with_atomics,
                         const std::string& name) {
    if (wanted == ucs::config::ternary::no) return false;
    const std::string missing = missing_on_demand(on_demand_abilities(device), with_atomics);
    if (missing.empty()) return true;
    // Devices are opened several times.
    static std::atomic_flag logged;
    const bool log_failure = wanted == ucs::config::ternary::yes && !logged.test_and_set();
    ucs::log::log(ib_log, log_failure ? ucs::log::level::warn : ucs::log::level::debug,
                  "{}: UCX_IB_ODP has no effect, because the device cannot page on demand ({}); "
                  "memory is pinned",
                  name, missing);
    return false;
}

}  // namespace uct::ib
