#include "test/cuda/driver/ipc.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <list>
#include <string>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/random.hpp"

namespace standin {
namespace {

constexpr char magic[8] = {'s', 't', 'a', 'n', 'd', 'i', 'p', 'c'};

// The content of a CUipcMemHandle. The file of the memory is reached through its owner's /proc.
struct ipc_handle {
    char mark[8];
    std::int32_t process;
    std::int32_t file;
    std::uint64_t nonce;  // of the process
    std::uint64_t block_number;
    std::uint64_t offset;  // of the allocation in the block
    std::uint64_t length;
    std::uint64_t buffer_id;
    std::uint64_t checksum;
};
static_assert(sizeof(ipc_handle) == sizeof(CUipcMemHandle));

std::uint64_t checksum_of(const ipc_handle& handle) {
    std::uint64_t sum = mix(static_cast<std::uint64_t>(handle.process));
    for (const std::uint64_t each :
         {static_cast<std::uint64_t>(handle.file), handle.nonce, handle.block_number, handle.offset,
          handle.length, handle.buffer_id})
        sum = mix(sum ^ each);
    return sum;
}

// The mapping of an exporter's block in a context; several imported allocations may share it.
struct imported_block {
    context_ref owner;
    std::uint64_t nonce;
    std::uint64_t number;
    std::shared_ptr<block> memory;
    std::uint64_t base;
    std::size_t mapped_length;
    unsigned users;
};

struct opening {
    allocation_ref imported;
    imported_block* within;
    std::uint64_t buffer_id;  // in the exporter
    unsigned count;
};

struct state {
    std::list<imported_block> blocks;
    std::list<opening> openings;
};

state& table() {
    static state& only = *new state;
    return only;
}

ipc_handle decode(const CUipcMemHandle& encoded) {
    ipc_handle handle;
    std::memcpy(&handle, encoded.reserved, sizeof handle);
    const bool is_ours = std::memcmp(handle.mark, magic, sizeof magic) == 0;
    check_argument(is_ours && handle.checksum == checksum_of(handle),
                   "this is no handle of memory");
    return handle;
}

// Closes a descriptor at the end of a scope.
struct scoped_file {
    int number;
    explicit scoped_file(int file) : number(file) {}
    ~scoped_file() {
        if (number >= 0) ::close(number);
    }
    scoped_file(const scoped_file&) = delete;
    scoped_file& operator=(const scoped_file&) = delete;
};

// Opens the block's file. Both the process id and the descriptor may have been used again: the name
// of the file tells.
std::shared_ptr<block> open_block(const ipc_handle& handle) {
    const std::string path =
        "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
    const scoped_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    char name[PATH_MAX] = {};
    const std::string own = "/proc/self/fd/" + std::to_string(file.number);
    const bool is_named = file.number >= 0 && ::readlink(own.c_str(), name, sizeof name - 1) > 0;
    const std::string wanted = "/memfd:" + name_of_block(handle.nonce, handle.block_number);
    if (!is_named || std::string(name).rfind(wanted + " ", 0) != 0)
        fail(CUDA_ERROR_INVALID_HANDLE, "the exporter has ended, or has freed the memory");
    return block::import(file.number);
}

void check_live(const block& memory, const ipc_handle& handle) {
    check_argument(
        handle.offset < memory.length() && handle.length <= memory.length() - handle.offset,
        "this is no handle of memory");
    if (memory.trailer().live[handle.offset / allocation_step] != handle.buffer_id)
        fail(CUDA_ERROR_INVALID_HANDLE, "the exporter has freed the memory");
}

// The memory of one device of another process may be opened by one context of each device.
void check_only_context(const context& opener, const ipc_handle& handle, const device& source) {
    for (const imported_block& each : table().blocks)
        if (each.nonce == handle.nonce && &each.memory->on() == &source &&
            &each.owner->on == &opener.on && each.owner.get() != &opener)
            fail(CUDA_ERROR_INVALID_CONTEXT,
                 "another context of the device has opened such memory");
}

void check_peer(const context& opener, const device& source) {
    if (&opener.on != &source && !can_access_peer(opener.on, source))
        fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices cannot access each other");
}

imported_block& map_imported(const context_ref& opener, const ipc_handle& handle,
                             const std::shared_ptr<block>& memory) {
    for (imported_block& each : table().blocks)
        if (each.owner == opener && each.nonce == handle.nonce &&
            each.number == handle.block_number)
            return each;
    allocation shown;
    map_block(shown, memory);
    table().blocks.push_back(
        {opener, handle.nonce, handle.block_number, memory, shown.base, shown.mapped_length, 0});
    return table().blocks.back();
}

CUdeviceptr open_anew(const context_ref& opener, const ipc_handle& handle,
                      const std::shared_ptr<block>& memory) {
    imported_block& within = map_imported(opener, handle, memory);
    const allocation_ref made = make_allocation(memory_kind::imported, within.base + handle.offset,
                                                handle.length, opener, within.memory->on());
    made->memory = within.memory;
    made->offset = handle.offset;
    made->mapped_base = within.base;
    made->mapped_length = within.mapped_length;
    made->live = &within.memory->trailer().live[handle.offset / allocation_step];
    made->live_id = handle.buffer_id;
    add_allocation(made);
    ++within.users;
    table().openings.push_back({made, &within, handle.buffer_id, 1});
    return made->base;
}

std::list<opening>::iterator find_opening(const allocation& imported) {
    return std::find_if(table().openings.begin(), table().openings.end(),
                        [&](const opening& each) { return each.imported.get() == &imported; });
}

opening* find_opening(const context_ref& opener, const ipc_handle& handle) {
    for (opening& each : table().openings)
        if (each.imported->owner == opener && each.within->nonce == handle.nonce &&
            each.buffer_id == handle.buffer_id)
            return &each;
    return nullptr;
}

CUdeviceptr open_handle(const ipc_handle& handle) {
    const context_ref opener = current_context();
    if (handle.nonce == process_nonce())
        fail(CUDA_ERROR_INVALID_CONTEXT, "the process that exported memory cannot open it");
    const std::shared_ptr<block> memory = open_block(handle);
    check_live(*memory, handle);
    if (opening* const found = find_opening(opener, handle); found != nullptr) {
        ++found->count;
        return found->imported->base;
    }
    check_only_context(*opener, handle, memory->on());
    check_peer(*opener, memory->on());
    return open_anew(opener, handle, memory);
}

}  // namespace

void release_imported(const allocation& removed) {
    const auto found = find_opening(removed);
    imported_block& within = *found->within;
    table().openings.erase(found);
    if (--within.users > 0) return;
    unmap_block(removed);
    table().blocks.remove_if([&](const imported_block& each) { return &each == &within; });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* encoded, CUdeviceptr address) {
    return call(function::cuIpcGetMemHandle, [&](held_lock&) {
        check_pointer(encoded);
        static_cast<void>(current_context());
        const allocation_ref found = find_allocation(address);
        check_argument(
            found != nullptr && found->kind == memory_kind::device && found->base == address,
            "no allocation of cuMemAlloc begins here");
        ipc_handle handle{};
        std::memcpy(handle.mark, magic, sizeof magic);
        handle.process = ::getpid();
        handle.file = found->memory->file();
        handle.nonce = process_nonce();
        handle.block_number = found->memory->number();
        handle.offset = found->offset;
        handle.length = found->length;
        handle.buffer_id = found->buffer_id;
        handle.checksum = checksum_of(handle);
        std::memcpy(encoded->reserved, &handle, sizeof handle);
    });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle encoded, unsigned flags) {
    return call(function::cuIpcOpenMemHandle_v2, [&](held_lock&) {
        check_pointer(address);
        check_argument(flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS,
                       "the flags must be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
        *address = open_handle(decode(encoded));
    });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    return call(function::cuIpcCloseMemHandle, [&](held_lock&) {
        const context_ref current = current_context_even_broken();
        const allocation_ref found = find_allocation(address);
        check_argument(
            found != nullptr && found->kind == memory_kind::imported && found->base == address,
            "no memory of cuIpcOpenMemHandle begins here");
        if (found->owner != current)
            fail(CUDA_ERROR_INVALID_CONTEXT, "another context has opened the memory");
        if (--find_opening(*found)->count == 0) {
            remove_allocation(*found);
            release_imported(*found);
        }
        check_works(*current);
    });
}

}  // namespace standin
