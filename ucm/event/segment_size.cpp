#include "ucm/event/segment_size.hpp"

#include <fcntl.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace ucm {
namespace {

// Parses "first-last" at the beginning of every line, one character at a time.
class range_scanner {
public:
    explicit range_scanner(std::uintptr_t wanted) noexcept : wanted_(wanted) {}

    // Returns true when the line of the wanted range has been read far enough.
    bool consume(char c) noexcept {
        if (c == '\n') {
            field_ = field::first;
            first_ = last_ = 0;
        } else if (field_ == field::first) {
            if (c == '-') {
                field_ = field::last;
            } else {
                first_ = first_ * 16 + digit(c);
            }
        } else if (field_ == field::last) {
            if (c == ' ') {
                field_ = field::other;
                return first_ == wanted_;
            }
            last_ = last_ * 16 + digit(c);
        }
        return false;
    }

    [[nodiscard]] std::size_t size() const noexcept { return last_ - first_; }

private:
    enum class field { first, last, other };

    static std::uintptr_t digit(char c) noexcept {
        return static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }

    std::uintptr_t wanted_;
    std::uintptr_t first_ = 0;
    std::uintptr_t last_ = 0;
    field field_ = field::first;
};

std::size_t scan(int fd, range_scanner& scanner) noexcept {
    char buffer[1024];
    for (;;) {
        const ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        for (ssize_t i = 0; i < got; ++i) {
            if (scanner.consume(buffer[i])) return scanner.size();
        }
    }
}

}  // namespace

std::size_t segment_size_at(const void* address) noexcept {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    range_scanner scanner(reinterpret_cast<std::uintptr_t>(address));
    const std::size_t size = scan(fd, scanner);
    close(fd);
    return size;
}

std::size_t segment_size_of(int shmid) noexcept {
    shmid_ds info;
    return shmctl(shmid, IPC_STAT, &info) < 0 ? 0 : info.shm_segsz;
}

}  // namespace ucm
