// Memory domains: memory that peers access without the help of its owner's processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"

namespace uct {

// Access rights to memory. The right to change includes reading, because atomic operations do both.
enum class memory_access : std::uint8_t { read, change };

// Memory of this process that is shared with peers. Made by a memory_domain; a value, any thread.
struct shared_memory {
    std::span<std::byte> bytes;
    std::vector<std::byte> key;          // the packed key for memory_domain::attach of a peer
    std::shared_ptr<const void> keeper;  // peers can access the memory while this exists
};

// Access to a peer's memory. Made by memory_domain::attach; immutable, any thread. Its validity
// depends on the transport: mapped memory stays when its owner is gone, and devices refuse access
// to memory that the owner does not share any more.
class remote_memory {
public:
    virtual ~remote_memory() = default;
    remote_memory(const remote_memory&) = delete;
    remote_memory& operator=(const remote_memory&) = delete;

protected:
    remote_memory() = default;
};

// An address in a peer's memory. `in` is the result of attach; it may be nullptr only for
// transports that use the address alone (not iface_attr::keyed), which ignore it.
struct remote_place {
    std::uint64_t address;
    const remote_memory* in = nullptr;
};

// The process that uses memory in requests to a device: this process, or a peer to which it is
// exposed.
enum class memory_user : std::uint8_t { own, peer };

// Cost of making memory usable for an operation.
struct preparation {
    double seconds = 0;  // 0: nothing
    bool lasts = true;   // the preparation also serves the next operation on the same memory
};

// The memory of this process that is registered with one device. It can be accessed over every
// interface on the device. Opened by component::open_domain, shared by the interfaces that are
// opened with it. Any thread.
class memory_domain : public ucs::vfs::object {
public:
    virtual ~memory_domain() = default;

    // Allocates memory, filled with zeros. Returns UCS_ERR_UNSUPPORTED or UCS_ERR_NO_MEMORY on
    // failure. Failures are logged. The functions may throw std::bad_alloc.
    virtual ucs::result<shared_memory> allocate(std::size_t length) = 0;

    // Shares existing memory, which stays owned by the caller: if it is unmapped while the keeper
    // exists, operations of peers fail. Returns UCS_ERR_UNSUPPORTED if peers can access only memory
    // of `allocate`. Failures are logged.
    virtual ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) = 0;

    // Exposes memory for one operation, to be read or to be written (`change`): peers can access
    // exactly these bytes until the keeper is destroyed. Resources that remain then may serve the
    // next operation.
    virtual ucs::result<shared_memory> expose(std::span<std::byte> bytes, memory_access allowed) {
        return share(bytes, allowed);
    }

    // Registers memory in advance that operations of this process will read or change, perhaps in
    // pieces, if the device caches registrations. Returns an error if the device cannot access the
    // memory. Failures are logged.
    virtual ucs_status_t prepare(std::span<const std::byte>, memory_access) noexcept {
        return UCS_OK;
    }

    // Returns the cost of registering memory with the device.
    [[nodiscard]] virtual preparation preparation_of(std::span<const std::byte>, memory_access,
                                                     memory_user) noexcept {
        return {};
    }

    // Attaches a peer's memory by its key, which is untrusted. Returns UCS_ERR_INVALID_PARAM if it
    // is malformed, or UCS_ERR_UNREACHABLE. Failures are logged.
    virtual ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                               memory_access wanted) = 0;

    void describe(ucs::vfs::directory&) const override {}
};

}  // namespace uct
