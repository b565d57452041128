#include "ucs/sys/byte_lock.hpp"

#include <fcntl.h>

namespace ucs::sys {
namespace {

struct flock exclusive_lock(off_t byte) noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return lock;
}

}  // namespace

bool lock_byte(int file, off_t byte) noexcept {
    struct flock lock = exclusive_lock(byte);
    return ::fcntl(file, F_SETLK, &lock) == 0;
}

bool is_byte_free(int file, off_t byte) noexcept {
    struct flock lock = exclusive_lock(byte);
    return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

bool is_byte_locked_by(int file, off_t byte, pid_t process) noexcept {
    struct flock lock = exclusive_lock(byte);
    return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid == process;
}

}  // namespace ucs::sys
