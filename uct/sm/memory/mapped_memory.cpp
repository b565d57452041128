#include "uct/sm/memory/mapped_memory.hpp"

#include <cstring>

#include "ucs/wire/codec.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/memory/apply_atomic.hpp"
#include "uct/sm/memory/packed_name.hpp"

namespace uct::sm {
namespace {

// The key. Only processes of this host read it, so numbers are in native byte order.
struct packed_key {
    std::uint64_t base;
    std::uint64_t length;
    packed_name name;
    std::uint32_t version;
};
static_assert(sizeof(packed_key) == 48 && std::has_unique_object_representations_v<packed_key>);
constexpr std::uint32_t key_version = 2;

}  // namespace

ucs::result<shared_memory> share_block(std::size_t length) {
    auto made = shared_block::allocate(length, nullptr, false);
    if (!made) return made.status();
    const block_name& name = (*made)->name();
    if (name.empty()) {
        ucs::log::error(memory_log,
                        "{} bytes of memory cannot be shared: peers could not find them", length);
        return UCS_ERR_UNSUPPORTED;
    }
    const packed_key key{reinterpret_cast<std::uint64_t>((*made)->base()), length, pack(name),
                         key_version};
    const auto bytes = std::as_bytes(std::span(&key, 1));
    return shared_memory{{(*made)->base(), length}, {bytes.begin(), bytes.end()}, std::move(*made)};
}

ucs::result<std::unique_ptr<remote_memory>> mapped_memory::attach(std::span<const std::byte> key,
                                                                  memory_access wanted) {
    const packed_key known = ucs::wire::reader(key).get<packed_key>();
    if (key.size() != sizeof known || known.version != key_version || known.length == 0 ||
        known.base + known.length < known.base || !is_possible_base(known.base)) {
        ucs::log::error(memory_log, "a key to shared memory is malformed, or of another version");
        return UCS_ERR_INVALID_PARAM;
    }
    auto found =
        shared_block::attach(unpack(known.name), known.length, wanted == memory_access::change);
    if (found.block == nullptr) {
        ucs::log::error(memory_log, "{} bytes of a peer's memory cannot be mapped: {}",
                        known.length, found.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return std::unique_ptr<remote_memory>(
        new mapped_memory(std::move(found.block), known.base, wanted));
}

ucs_status_t mapped_memory::check(const atomic_op& change, std::uint64_t owners_address,
                                  const void* before) const noexcept {
    const auto refuse = [&](ucs_status_t status, const char* why) {
        ucs::log::error(memory_log, "an atomic operation on {} bytes at {:#x} is refused: {}",
                        change.size, owners_address, why);
        return status;
    };
    if (!change.possible()) {
        return refuse(UCS_ERR_INVALID_PARAM,
                      "there is no such operation, or numbers of that size have none");
    }
    if (change.must_fetch() && before == nullptr) {
        return refuse(UCS_ERR_INVALID_PARAM, "a swap needs to know where its answer belongs");
    }
    if (owners_address % change.size != 0) {
        return refuse(UCS_ERR_INVALID_PARAM, "that is no multiple of the size");
    }
    const std::uint64_t offset = owners_address - owners_base_;
    if (owners_address < owners_base_ || offset > block_->length() ||
        block_->length() - offset < change.size) {
        return refuse(UCS_ERR_INVALID_ADDR, "outside of the memory");
    }
    if (allowed_ == memory_access::read) {
        return refuse(UCS_ERR_REJECTED, "the memory is mapped to be read only");
    }
    return UCS_OK;
}

ucs_status_t mapped_memory::atomic(const atomic_op& change, std::uint64_t owners_address,
                                   void* before) const noexcept {
    const ucs_status_t status = check(change, owners_address, before);
    if (status != UCS_OK) return status;
    const std::uint64_t was =
        apply_atomic(block_->base() + (owners_address - owners_base_), change);
    if (before != nullptr) std::memcpy(before, &was, change.size);
    return UCS_OK;
}

}  // namespace uct::sm
