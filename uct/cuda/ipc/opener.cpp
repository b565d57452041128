#include "uct/cuda/ipc/opener.hpp"

#include <algorithm>

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

std::vector<bool> find_active(const driver_functions& driver, const std::vector<device>& all) {
    std::vector<bool> active;
    for (const device& each : all) {
        unsigned flags = 0;
        int is_active = 0;
        const CUresult outcome = driver.cuDevicePrimaryCtxGetState(each.handle, &flags, &is_active);
        active.push_back(outcome == CUDA_SUCCESS && is_active != 0);
    }
    return active;
}

}  // namespace

std::vector<int> devices_to_try(const std::vector<device>& all, std::uint64_t home,
                                const std::vector<bool>& active) {
    const auto owner = std::ranges::find(all, home, &device::number);
    std::vector<int> best;
    const auto add = [&](bool used, bool is_home) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool is_same = owner != all.end() && all[i].ordinal == owner->ordinal;
            const bool can_access = owner == all.end() || all[i].can_access(owner->ordinal);
            if (active[i] == used && is_same == is_home && can_access)
                best.push_back(all[i].ordinal);
        }
    };
    add(true, true);
    add(true, false);
    add(false, true);
    add(false, false);
    return best;
}

std::vector<int> opener::choose(const driver_functions& driver, std::uint64_t home) {
    const std::lock_guard guard(lock_);
    if (devices_.empty()) devices_ = list_devices(driver);
    return devices_to_try(devices_, home, find_active(driver, devices_));
}

opened_mapping opener::open(const driver_functions& driver, const ipc_key& key) {
    const std::vector<int> ordinals = choose(driver, key.device);
    opened_mapping best{nullptr, CUDA_ERROR_INVALID_DEVICE,
                        "no device of this process can access the one that has it"};
    broker_answer parts;
    if (key.type == ipc_key::kind::exported) {
        parts = fetch_export(export_name::unpack(key.handle), key.base_length);
        if (!parts.problem.empty()) return {nullptr, CUDA_ERROR_NOT_FOUND, parts.problem};
    }
    for (const int each : ordinals) {
        opened_mapping made = key.type == ipc_key::kind::exported
                                  ? open_parts(driver, parts.parts, each)
                                  : open_legacy(driver, key, each);
        if (made.made != nullptr) return made;
        // Only another device can help then.
        const bool may_help = made.outcome == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ||
                              made.outcome == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED ||
                              made.outcome == CUDA_ERROR_INVALID_DEVICE ||
                              made.outcome == CUDA_ERROR_MAP_FAILED;
        best = std::move(made);
        if (!may_help) break;
    }
    return best;
}

}  // namespace uct::cuda
