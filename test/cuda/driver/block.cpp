#include "test/cuda/driver/block.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/handle.hpp"

namespace standin {
namespace {

constexpr char magic[8] = {'s', 't', 'a', 'n', 'd', 'i', 'n', '1'};

// Pages hold the trailer, so that a mapping of the block alone does not contain it.
constexpr std::size_t trailer_length = (sizeof(block_trailer) + 4095) / 4096 * 4096;

char* map_file(int file, std::size_t length) {
    const long found = ::syscall(SYS_mmap, nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED,
                                 file, std::size_t{0});
    if (found == -1) fail(CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map more memory");
    return reinterpret_cast<char*>(found);
}

int create_file(std::uint64_t number, std::size_t length) {
    const std::string name = name_of_block(process_nonce(), number);
    const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    if (file >= 0 && ::ftruncate(file, static_cast<off_t>(length)) == 0) return file;
    if (file >= 0) ::close(file);
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory or no file descriptor");
}

void charge(device& on, std::size_t length) {
    if (on.used_bytes + length > on.total_bytes)
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the device's memory is used up");
    on.used_bytes += length;
}

block_head read_head(int file) {
    struct stat about {};
    if (::fstat(file, &about) != 0) about.st_size = 0;
    const std::size_t whole = static_cast<std::size_t>(about.st_size);
    constexpr const char* reason = "the file descriptor is not one of device memory";
    check_argument(whole > trailer_length, reason);
    block_head head{};
    const auto place = static_cast<off_t>(whole - trailer_length);
    check_argument(::pread(file, &head, sizeof head, place) == ssize_t{sizeof head}, reason);
    check_argument(std::memcmp(head.magic, magic, sizeof magic) == 0, reason);
    check_argument(head.length == whole - trailer_length, reason);
    return head;
}

}  // namespace

block::block(device& on, std::size_t length, int file, bool is_own)
    : on_(on),
      length_(length),
      file_(file),
      is_own_(is_own),
      number_(unique_number()),
      bytes_(nullptr) {}

std::shared_ptr<block> block::create(device& on, std::size_t length) {
    charge(on, length);
    std::shared_ptr<block> made(new block(on, length, -1, true));
    made->file_ = create_file(made->number_, length + trailer_length);
    made->bytes_ = map_file(made->file_, length + trailer_length);
    block_head& head = made->trailer().head;
    std::memcpy(head.magic, magic, sizeof magic);
    head.length = length;
    head.device = on.uuid;
    return made;
}

std::shared_ptr<block> block::import(int file) {
    const block_head head = read_head(file);
    device* const on = find_device(head.device);
    check_argument(on != nullptr, "the memory's device is not visible in this process");
    const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) fail(CUDA_ERROR_OUT_OF_MEMORY, "the process has no file descriptor left");
    std::shared_ptr<block> made(new block(*on, head.length, copy, false));
    made->bytes_ = map_file(copy, head.length + trailer_length);
    return made;
}

block::~block() {
    if (bytes_ != nullptr) ::syscall(SYS_munmap, bytes_, length_ + trailer_length);
    if (file_ >= 0) ::close(file_);
    if (is_own_) on_.used_bytes -= length_;
}

block_trailer& block::trailer() const noexcept {
    return *reinterpret_cast<block_trailer*>(bytes_ + length_);
}

std::uint64_t process_nonce() noexcept {
    static const std::uint64_t nonce = [] {
        std::uint64_t random = 0;
        static_cast<void>(::getrandom(&random, sizeof random, 0));
        return random;
    }();
    return nonce;
}

std::string name_of_block(std::uint64_t nonce, std::uint64_t number) {
    char text[64];
    std::snprintf(text, sizeof text, "standin-%016llx-%llu", static_cast<unsigned long long>(nonce),
                  static_cast<unsigned long long>(number));
    return text;
}

}  // namespace standin
