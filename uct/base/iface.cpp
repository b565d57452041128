#include "uct/api/iface.hpp"

namespace uct {

ucs::result<shared_memory> iface::share_memory(std::size_t) {
    return UCS_ERR_UNSUPPORTED;
}

ucs::result<std::unique_ptr<remote_memory>> iface::attach_memory(std::span<const std::byte>,
                                                                 memory_access) {
    return UCS_ERR_UNSUPPORTED;
}

}  // namespace uct
