#include "uct/sm/memory/block_domain.hpp"

#include "uct/sm/memory/mapped_memory.hpp"

namespace uct::sm {

ucs::result<shared_memory> block_domain::allocate(std::size_t length) {
    return share_block(length);
}

ucs::result<shared_memory> block_domain::share(std::span<std::byte>, memory_access) {
    return UCS_ERR_UNSUPPORTED;
}

ucs::result<std::unique_ptr<remote_memory>> block_domain::attach(std::span<const std::byte> key,
                                                                 memory_access wanted) {
    return mapped_memory::attach(key, wanted);
}

}  // namespace uct::sm
