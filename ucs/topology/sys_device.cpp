#include "ucs/topology/sys_device.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "ucs/config/text.hpp"
#include "ucs/log/log.hpp"

namespace ucs::topology {
namespace {

constinit log::component self{"ucs.topology"};

struct entry {
    pci_address address;
    std::string names;
};

struct registry {
    std::mutex lock;
    std::vector<entry> entries;
};

registry& the_registry() {
    static registry& instance = *new registry;
    return instance;
}

void add_name(std::string& names, const std::string& name) {
    const auto known = config::split(names, ',');
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    if (!names.empty()) names += ',';
    names += name;
}

}  // namespace

sys_device register_device(const pci_address& address, const std::string& name) {
    registry& devices = the_registry();
    const std::lock_guard guard(devices.lock);
    auto found = std::find_if(devices.entries.begin(), devices.entries.end(),
                              [&](const entry& each) { return each.address == address; });
    if (found == devices.entries.end()) {
        if (devices.entries.size() == unknown_device) {
            log::diag(self, "no number is left for device {} ({})", address.text(), name);
            return unknown_device;
        }
        devices.entries.push_back({address, ""});
        found = devices.entries.end() - 1;
    }
    add_name(found->names, name);
    return static_cast<sys_device>(found - devices.entries.begin());
}

std::optional<pci_address> device_address(sys_device device) {
    registry& devices = the_registry();
    const std::lock_guard guard(devices.lock);
    if (device >= devices.entries.size()) return std::nullopt;
    return devices.entries[device].address;
}

std::string device_name(sys_device device) {
    registry& devices = the_registry();
    const std::lock_guard guard(devices.lock);
    if (device >= devices.entries.size()) return "unknown";
    const entry& found = devices.entries[device];
    return found.names.empty() ? found.address.text() : found.names;
}

}  // namespace ucs::topology
