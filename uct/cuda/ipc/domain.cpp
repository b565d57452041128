#include "uct/cuda/ipc/domain.hpp"

#include "ucs/cuda/scoped_context.hpp"
#include "ucs/memory/device_memory.hpp"
#include "uct/base/log.hpp"
#include "uct/cuda/base/address.hpp"
#include "uct/cuda/base/synchronous_writes.hpp"
#include "uct/cuda/ipc/exported_parts.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

// Handles of allocations that the program has freed are forgotten at the latest then.
constexpr std::size_t most_handles = 4096;

// Returns the driver if the program has initialized it.
const driver_functions* find_driver() noexcept {
    const driver_functions* const driver = loaded_driver();
    CUcontext current = nullptr;
    const bool is_started = driver != nullptr && driver->cuCtxGetCurrent(&current) == CUDA_SUCCESS;
    return is_started ? driver : nullptr;
}

ipc_key key_of(const device_memory& memory, std::span<std::byte> bytes, memory_access allowed) {
    ipc_key key;
    key.base = memory.base;
    key.base_length = memory.length;
    key.offset = reinterpret_cast<std::uint64_t>(bytes.data()) - memory.base;
    key.length = bytes.size();
    key.buffer_id = memory.buffer_id;
    key.owner = process_number();
    key.allowed = allowed;
    return key;
}

}  // namespace

ucs::result<std::shared_ptr<ipc_domain>> ipc_domain::open(const ucs::config::source& config) {
    const auto options = ucs::config::load<ipc_settings>(config);
    if (!options) return options.status();
    return std::shared_ptr<ipc_domain>(new ipc_domain(*options));
}

ucs::result<shared_memory> ipc_domain::share(std::span<std::byte> bytes, memory_access allowed) {
    const auto memory = ucs::memory::find_memory(bytes.data()).device;
    if (!memory || memory->type != UCS_MEMORY_TYPE_CUDA) return UCS_ERR_UNSUPPORTED;
    if (!memory->contains(bytes.data(), bytes.size())) {
        ucs::log::error(cuda_log,
                        "{} bytes of device memory at {} cannot be shared: the allocation ends "
                        "before",
                        bytes.size(), static_cast<const void*>(bytes.data()));
        return UCS_ERR_INVALID_ADDR;
    }
    return memory->has_legacy_handle ? share_allocation(*memory, bytes, allowed)
                                     : share_parts(*memory, bytes, allowed);
}

ucs::result<handle_bytes> ipc_domain::handle_of(const device_memory& memory) {
    {
        const std::lock_guard guard(lock_);
        if (const auto known = handles_.find(memory.buffer_id); known != handles_.end())
            return known->second;
    }
    const driver_functions& driver = *loaded_driver();
    const scoped_context current(driver, memory.context);
    ucs_status_t status = check(current.status(), "cuCtxPushCurrent_v2");
    if (status != UCS_OK) return status;
    CUipcMemHandle made{};
    status = check(driver.cuIpcGetMemHandle(&made, memory.base), "cuIpcGetMemHandle");
    if (status != UCS_OK) return status;
    make_writes_synchronous(driver, memory.base);
    handle_bytes bytes;
    std::memcpy(bytes.data(), made.reserved, sizeof made.reserved);
    const std::lock_guard guard(lock_);
    if (handles_.size() >= most_handles) handles_.clear();
    handles_.emplace(memory.buffer_id, bytes);
    return bytes;
}

ucs::result<std::uint64_t> ipc_domain::device_number(int ordinal) {
    const std::lock_guard guard(lock_);
    if (const auto known = devices_.find(ordinal); known != devices_.end()) return known->second;
    const auto found = find_device(*loaded_driver(), ordinal);
    if (!found) return found.status();
    return devices_.emplace(ordinal, found->number()).first->second;
}

ucs::result<shared_memory> ipc_domain::share_allocation(const device_memory& memory,
                                                        std::span<std::byte> bytes,
                                                        memory_access allowed) {
    const auto handle = handle_of(memory);
    if (!handle) return handle.status();
    const auto device = device_number(memory.device);
    if (!device) return device.status();
    ipc_key key = key_of(memory, bytes, allowed);
    key.device = *device;
    key.handle = *handle;
    // Peers keep access until they unmap the memory: the driver cannot withdraw it.
    return shared_memory{bytes, key.pack(), {}};
}

ucs::result<std::shared_ptr<broker>> ipc_domain::find_broker() {
    const std::lock_guard guard(lock_);
    if (broker_ == nullptr) {
        auto found = broker::get(*loaded_driver());
        if (!found) return found.status();
        broker_ = std::move(*found);
    }
    return broker_;
}

ucs::result<shared_memory> ipc_domain::share_parts(const device_memory& memory,
                                                   std::span<std::byte> bytes,
                                                   memory_access allowed) {
    auto parts = retain_parts(*loaded_driver(), bytes);
    if (!parts) return parts.status();
    const auto device = device_number(memory.device);
    if (!device) return device.status();
    const auto exporting = find_broker();
    if (!exporting) return exporting.status();
    device_memory range = memory;
    range.base = parts->base;
    range.length = parts->length;
    ipc_key key = key_of(range, bytes, allowed);
    const broker::entry made = (*exporting)->add(std::move(parts->all));
    key.type = ipc_key::kind::exported;
    key.buffer_id = made.name.number;
    key.device = *device;
    key.handle = made.name.pack();
    return shared_memory{bytes, key.pack(), made.keeper};
}

ucs::result<mapping_cache::held> ipc_domain::map(const ipc_key& key) {
    const driver_functions* const driver = find_driver();
    if (driver == nullptr) {
        ucs::log::diag(
            cuda_log, "device memory of a peer cannot be accessed: this process does not use CUDA");
        return UCS_ERR_UNREACHABLE;
    }
    if (auto known = mappings_.find(key)) return known;
    mappings_.drop_outdated(key);
    opened_mapping opened = opener_.open(*driver, key);
    if (opened.outcome == CUDA_ERROR_ALREADY_MAPPED) {
        // A block that the owner has freed is still mapped here.
        mappings_.drop_unused(key.owner);
        opened = opener_.open(*driver, key);
    }
    if (opened.made == nullptr) {
        ucs::log::diag(cuda_log, "{} bytes of device memory of a peer cannot be accessed: {}",
                       key.base_length, opened.problem);
        return UCS_ERR_UNREACHABLE;
    }
    return mappings_.add(key, std::move(opened.made));
}

// A key with this process's number may come from anywhere: it gives access to nothing but the
// allocation that it was made for.
bool ipc_domain::is_own_memory(const ipc_key& key) const {
    const auto* const begin = reinterpret_cast<const void*>(key.base + key.offset);
    const auto memory = ucs::memory::find_memory(begin).device;
    if (!memory || memory->type != UCS_MEMORY_TYPE_CUDA) return false;
    if (!memory->contains(begin, key.length)) return false;
    if (key.type == ipc_key::kind::legacy) return memory->buffer_id == key.buffer_id;
    // Another domain of this process may have exported it.
    const std::shared_ptr<broker> exporting = broker::running();
    return exporting != nullptr && exporting->holds(export_name::unpack(key.handle));
}

ucs::result<std::unique_ptr<remote_memory>> ipc_domain::attach(std::span<const std::byte> key,
                                                               memory_access wanted) {
    const auto known = ipc_key::parse(key);
    if (!known) {
        rejected_.error(cuda_log,
                        "a key to device memory of a peer is malformed, or of another version");
        return UCS_ERR_INVALID_PARAM;
    }
    mapping_cache::held memory;
    if (known->owner == process_number()) {
        if (!is_own_memory(*known)) {
            rejected_.error(cuda_log,
                            "a key names device memory of this process that does not exist");
            return UCS_ERR_UNREACHABLE;
        }
    } else {
        auto mapped = map(*known);
        if (!mapped) return mapped.status();
        memory = std::move(*mapped);
    }
    return std::unique_ptr<remote_memory>(
        std::make_unique<ipc_region>(*known, std::min(wanted, known->allowed), std::move(memory)));
}

void ipc_domain::add_peer(std::uint64_t number) {
    const std::lock_guard guard(lock_);
    ++peers_[number];
}

void ipc_domain::remove_peer(std::uint64_t number) noexcept {
    {
        const std::lock_guard guard(lock_);
        const auto known = peers_.find(number);
        if (--known->second > 0) return;
        peers_.erase(known);
    }
    mappings_.drop_unused(number);
}

void ipc_domain::describe(ucs::vfs::directory& into) const {
    into.file("handles", [this] {
        const std::lock_guard guard(lock_);
        return std::to_string(handles_.size());
    });
    into.file("exports", [this] {
        const std::lock_guard guard(lock_);
        return std::to_string(broker_ == nullptr ? 0 : broker_->exports());
    });
    into.folder("mappings", [this](ucs::vfs::directory& folder) { mappings_.describe(folder); });
}

}  // namespace uct::cuda
