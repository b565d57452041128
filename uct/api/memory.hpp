// Memory that peers of a transport work on with atomic operations.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace uct {

// Memory of this process for peers. Made by iface::share_memory; a value, any thread.
struct shared_memory {
    std::span<std::byte> bytes;          // zeros at first
    std::vector<std::byte> key;          // what a peer hands to iface::attach_memory
    std::shared_ptr<const void> keeper;  // the memory is there as long as this
};

// A peer's memory as this process reaches it. Made by iface::attach_memory of the interface whose
// endpoints take it; immutable, any thread. It stays usable when its owner is gone.
class remote_memory {
public:
    virtual ~remote_memory() = default;
    remote_memory(const remote_memory&) = delete;
    remote_memory& operator=(const remote_memory&) = delete;

protected:
    remote_memory() = default;
};

// What its user wants to do with a peer's memory.
enum class memory_access : std::uint8_t { read, change };

}  // namespace uct
