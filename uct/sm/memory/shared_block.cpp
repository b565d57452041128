#include "uct/sm/memory/shared_block.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "ucs/random/random_bytes.hpp"
#include "ucs/sys/process_file.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/base/host.hpp"
#include "uct/sm/base/memfd.hpp"
#include "uct/sm/memory/mapped_memory.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace uct::sm {
namespace {

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

// Returns the length of the file; 0 if it exceeds the address space.
std::size_t whole_pages(std::size_t length) noexcept {
    const std::size_t page = page_size();
    if (length > std::numeric_limits<std::ptrdiff_t>::max() - page) return 0;
    return (length + page - 1) / page * page;
}

constexpr const char* kind = "hawser-memory";

ucs_status_t failed(std::size_t length, const char* call, int error) {
    ucs::log::error(memory_log, "{} bytes of memory could not be allocated: {} failed: {}", length,
                    call, std::strerror(error));
    return error == EEXIST ? UCS_ERR_NO_ELEM : status_of_errno(error);
}

struct unmapper {
    std::size_t size;
    void operator()(std::byte* base) const noexcept { ::munmap(base, size); }
};
// A mapping that no block owns yet.
using mapping = std::unique_ptr<std::byte, unmapper>;

// Older kernels treat MAP_FIXED_NOREPLACE as a hint.
mapping map(std::size_t size, int protection, int flags, int fd, void* wanted, bool exactly) {
    if (exactly) flags |= MAP_FIXED_NOREPLACE;
    void* base = ::mmap(wanted, size, protection, flags, fd, 0);
    if (base == MAP_FAILED) return {nullptr, {size}};
    if (exactly && base != wanted) {
        ::munmap(base, size);
        errno = EEXIST;
        return {nullptr, {size}};
    }
    return {static_cast<std::byte*>(base), {size}};
}

// Returns a sealed file of that size, or a descriptor of -1: then the memory has no name.
ucs::unique_fd make_file(std::size_t size, std::uint64_t tag) {
    ucs::unique_fd file = make_memfd(ucs::sys::tagged_file_name(kind, tag).c_str());
    const char* call = file ? size_and_seal(file.get(), size) : "memfd_create";
    if (call == nullptr) return file;
    ucs::log::diag(memory_log, "peers cannot map {} bytes of memory: {} failed: {}", size, call,
                   std::strerror(errno));
    return {};
}

std::string why_not_here(const block_name& name) {
    if (name.empty()) return "it has no name";
    const host_identity own = read_host_identity();
    if (name.host != own.host) return "it is on another host";
    if (name.pid_namespace == 0 || name.pid_namespace != own.pid_namespace) {
        return "its owner is in another process id namespace";
    }
    return {};
}

}  // namespace

shared_block::shared_block(std::byte* base, std::size_t length, ucs::unique_fd file,
                           const block_name& name)
    : base_(base), length_(length), file_(std::move(file)), name_(name) {}

shared_block::~shared_block() {
    ::munmap(base_, whole_pages(length_));
}

ucs::result<std::shared_ptr<const shared_block>> shared_block::allocate(std::size_t length,
                                                                        void* wanted,
                                                                        bool exactly) {
    const std::size_t size = whole_pages(length);
    if (size == 0) return failed(length, "mmap", ENOMEM);
    if (exactly && reinterpret_cast<std::uintptr_t>(wanted) % page_size() != 0) {
        ucs::log::error(memory_log, "memory cannot be allocated at {}: not the beginning of a page",
                        wanted);
        return UCS_ERR_INVALID_PARAM;
    }
    block_name name;
    name.tag = ucs::sys::random_id();
    ucs::unique_fd file = make_file(size, name.tag);
    const int flags = file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    mapping base = map(size, PROT_READ | PROT_WRITE, flags, file.get(), wanted, exactly);
    if (base == nullptr) return failed(length, "mmap", errno);
    const host_identity own = read_host_identity();
    if (file && own.host != 0 && own.pid_namespace != 0) {
        name.host = own.host;
        name.pid_namespace = own.pid_namespace;
        name.pid = static_cast<std::uint32_t>(::getpid());
        name.fd = static_cast<std::uint32_t>(file.get());
    } else {
        name = {};
    }
    std::unique_ptr<shared_block> made(new shared_block(base.get(), length, std::move(file), name));
    static_cast<void>(base.release());
    return std::shared_ptr<const shared_block>(std::move(made));
}

shared_block::attached shared_block::attach(const block_name& name, std::size_t length,
                                            bool writable) {
    if (std::string why = why_not_here(name); !why.empty()) return {nullptr, std::move(why)};
    const std::size_t size = whole_pages(length);
    if (size == 0) return {nullptr, "its length is impossible"};
    const auto opened = ucs::sys::open_process_file({name.pid, name.fd, name.tag}, kind, writable);
    if (!opened.file) return {nullptr, opened.reason};
    if (std::string why = why_not_memory(opened.file.get(), size); !why.empty()) {
        return {nullptr, std::move(why)};
    }
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    mapping base = map(size, protection, MAP_SHARED, opened.file.get(), nullptr, false);
    if (base == nullptr) return {nullptr, fmt::format("mmap failed: {}", std::strerror(errno))};
    // The descriptor is not needed any more: others find the block by the descriptor of its owner.
    std::unique_ptr<shared_block> made(new shared_block(base.get(), length, {}, name));
    static_cast<void>(base.release());
    return {std::move(made), {}};
}

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
