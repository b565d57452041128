#include "ucs/topology/pci_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "ucs/config/text.hpp"
#include "ucs/sys/text_file.hpp"

namespace ucs::topology {
namespace {

// The parts of a device's path from its host bridge down: "pci0000:16", "0000:16:02.0", …
std::vector<std::string> bridge_path(const std::string& path) {
    std::vector<std::string> parts = config::split(path, '/');
    const auto bridge = std::find_if(parts.begin(), parts.end(), [](const std::string& part) {
        return part.starts_with("pci") && part.find(':') != part.npos;
    });
    parts.erase(parts.begin(), bridge);
    return parts;
}

std::size_t common_length(const std::vector<std::string>& left,
                          const std::vector<std::string>& right) {
    const auto [end, ignored] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    return static_cast<std::size_t>(end - left.begin());
}

// Bytes per second of one lane: giga-transfers less the encoding (8b/10b before PCIe 3).
double lane_bandwidth(double transfers) noexcept {
    return transfers * 1e9 / 8 * (transfers < 8 ? 0.8 : 128.0 / 130.0);
}

// Parses a hexadecimal number of at most `digits` digits and its terminator `end`.
std::optional<std::uint32_t> take(std::string_view& text, std::size_t digits, char end) noexcept {
    std::size_t size = text.size();
    if (end != '\0') {
        size = text.find(end);
        if (size == text.npos) return std::nullopt;
    }
    if (size == 0 || size > digits) return std::nullopt;
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + size, value, 16);
    if (error != std::errc{} || stop != text.data() + size) return std::nullopt;
    text.remove_prefix(end == '\0' ? size : size + 1);
    return value;
}

}  // namespace

const char* path_class_name(path_class path) noexcept {
    static constexpr std::array names{"same device",    "same PCI switch", "same host bridge",
                                      "same NUMA node", "other NUMA node", "unknown"};
    static_assert(names.size() == static_cast<std::size_t>(path_class::unknown) + 1);
    return names[static_cast<std::size_t>(path)];
}

std::string pci_tree::device_path(const pci_address& device) const {
    return sys::real_path(root_ + "/sys/bus/pci/devices/" + device.text()).value_or("");
}

int pci_tree::numa_node(const pci_address& device) const {
    const auto node =
        sys::read_number(root_ + "/sys/bus/pci/devices/" + device.text() + "/numa_node");
    return node && *node >= 0 ? static_cast<int>(*node) : -1;
}

path_class pci_tree::between(const pci_address& left, const pci_address& right) const {
    const auto left_path = bridge_path(device_path(left));
    const auto right_path = bridge_path(device_path(right));
    if (left_path.empty() || right_path.empty()) return path_class::unknown;
    if (left.domain == right.domain && left.bus == right.bus && left.device == right.device) {
        return path_class::same_device;
    }
    const std::size_t common = common_length(left_path, right_path);
    // If they share more than the host bridge, both are below the same bridge or switch.
    if (common >= 2) return path_class::same_bridge;
    if (common == 1) return path_class::same_root;
    return to_node(left, numa_node(right));
}

path_class pci_tree::to_node(const pci_address& device, int node) const {
    const int own = numa_node(device);
    if (own < 0 || node < 0) return path_class::unknown;
    return own == node ? path_class::same_node : path_class::cross_node;
}

path_class pci_tree::to_cpu(const pci_address& device, unsigned cpu, const machine& on) const {
    // With a single node every device is near, even if the firmware does not report its node.
    if (on.nodes().size() == 1 && on.node_of_cpu(cpu) >= 0) return path_class::same_node;
    return to_node(device, on.node_of_cpu(cpu));
}

double pci_tree::bandwidth(const pci_address& device) const {
    const std::string folder = root_ + "/sys/bus/pci/devices/" + device.text();
    const auto speed = sys::read_text(folder + "/current_link_speed");
    const auto width = sys::read_number(folder + "/current_link_width");
    if (!speed || !width || *width <= 0) return 0;
    double transfers = 0;
    if (std::from_chars(speed->data(), speed->data() + speed->size(), transfers).ec !=
        std::errc{}) {
        return 0;
    }
    return lane_bandwidth(transfers) * static_cast<double>(*width);
}

std::optional<pci_address> pci_address::parse(std::string_view text) noexcept {
    std::optional<std::uint32_t> domain = 0;
    if (text.find(':') != text.rfind(':')) domain = take(text, 8, ':');
    const auto bus = take(text, 2, ':');
    const auto device = take(text, 2, '.');
    const auto function = take(text, 1, '\0');
    if (!domain || !bus || !device || !function || *device > 31 || *function > 7) {
        return std::nullopt;
    }
    return pci_address{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                       static_cast<std::uint8_t>(*function)};
}

std::string pci_address::text() const {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

}  // namespace ucs::topology
