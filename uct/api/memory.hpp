// Memory that peers of a transport reach without the help of its owner's processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"

namespace uct {

// What peers may do with memory, or want to. Who may change it may read it as well, because atomic
// operations do both.
enum class memory_access : std::uint8_t { read, change };

// Memory of this process for peers. Made by a memory_domain; a value, any thread.
struct shared_memory {
    std::span<std::byte> bytes;
    std::vector<std::byte> key;          // what a peer hands to memory_domain::attach
    std::shared_ptr<const void> keeper;  // peers reach it as long as this is kept
};

// A peer's memory as this process reaches it. Made by memory_domain::attach; immutable, any thread.
// How long it is of use depends on the transport: mapped memory stays when its owner is gone, and
// devices refuse what the owner does not share any more.
class remote_memory {
public:
    virtual ~remote_memory() = default;
    remote_memory(const remote_memory&) = delete;
    remote_memory& operator=(const remote_memory&) = delete;

protected:
    remote_memory() = default;
};

// A place in a peer's memory. `in` is what the memory was reached by: nullptr only for transports
// that find it by the address alone (not iface_attr::keyed), which ignore it.
struct remote_place {
    std::uint64_t address;
    const remote_memory* in = nullptr;
};

// Who will name memory in a request to a device: this process, or a peer to whom it is lent.
enum class memory_user : std::uint8_t { own, peer };

// What has to be done before an operation can use memory.
struct preparation {
    double seconds = 0;  // 0: nothing
    bool lasts = true;   // the next operation on the same memory finds it done
};

// The memory of this process as one device knows it: what is registered with it can be reached over
// every interface on the device. Opened by component::open_domain, shared by the interfaces that
// are opened with it. Any thread.
class memory_domain : public ucs::vfs::object {
public:
    virtual ~memory_domain() = default;

    // New memory, zeros. UCS_ERR_UNSUPPORTED, UCS_ERR_NO_MEMORY. Failures are logged. The functions
    // may throw std::bad_alloc.
    virtual ucs::result<shared_memory> allocate(std::size_t length) = 0;

    // Memory that is there already, which stays its owner's: whoever unmaps it while the keeper is
    // kept breaks the operations of peers. UCS_ERR_UNSUPPORTED where only memory of `allocate` can
    // be reached. Failures are logged.
    virtual ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) = 0;

    // The same for one operation, to be read or to be written (`change`): peers reach these bytes
    // and no others, until the keeper goes. What is left behind then may serve the next operation.
    virtual ucs::result<shared_memory> lend(std::span<std::byte> bytes, memory_access allowed) {
        return share(bytes, allowed);
    }

    // Memory that operations of ours will read or change, perhaps piece by piece: the device learns
    // it at once, where it keeps what it has learned. Other than UCS_OK: it cannot work with it.
    // Failures are logged.
    virtual ucs_status_t prepare(std::span<const std::byte>, memory_access) noexcept {
        return UCS_OK;
    }

    // What it costs to make memory known to the device.
    [[nodiscard]] virtual preparation preparation_of(std::span<const std::byte>, memory_access,
                                                     memory_user) noexcept {
        return {};
    }

    // A peer's memory by its key, which may be anything. UCS_ERR_INVALID_PARAM: it is malformed;
    // UCS_ERR_UNREACHABLE. Failures are logged.
    virtual ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                               memory_access wanted) = 0;

    void describe(ucs::vfs::directory&) const override {}
};

}  // namespace uct
