#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "ucs/sys/file_size.hpp"
#include "uct/base/builtin.hpp"
#include "uct/sm/base/listing.hpp"
#include "uct/sm/memory/shared_block.hpp"
#include "uct/sm/posix/posix_iface.hpp"

namespace uct::posix {
namespace {

// Returns an empty text if everything that the transport needs is there.
std::string why_not(const ucs::config::source& from) {
    if (!make_memfd()) return fmt::format("memfd_create failed: {}", std::strerror(errno));
    if (!make_socket()) {
        return fmt::format("Unix sockets are not available: {}", std::strerror(errno));
    }
    if (sm::read_host_identity().net_namespace == 0)
        return "/proc does not tell the network namespace";
    const auto options = ucs::config::load<config>(from);
    if (!options) return {};  // opening the interface reports the wrong options
    return ucs::sys::why_too_large(options->geometry().segment_size());
}

class component_of_posix final : public component {
public:
    const char* name() const noexcept override { return "posix"; }
    std::vector<const ucs::config::table*> options() const override { return {&config::options()}; }

    listing query(const ucs::config::source& from) const override {
        return sm::list_memory(name(), why_not(from));
    }

    ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource&, const ucs::config::source&) const override {
        return std::shared_ptr<memory_domain>(std::make_shared<sm::block_domain>());
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return posix_iface::open(where, params);
    }
};

}  // namespace

}  // namespace uct::posix

const uct::component& uct::posix_component() noexcept {
    static const posix::component_of_posix instance;
    return instance;
}
