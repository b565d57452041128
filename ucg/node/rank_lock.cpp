#include "ucg/node/rank_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ucg::node {
namespace {

struct flock lock_of(rank_t rank) noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(rank);
    lock.l_len = 1;
    return lock;
}

}  // namespace

bool lock_as(int file, rank_t rank) noexcept {
    struct flock lock = lock_of(rank);
    return ::fcntl(file, F_SETLK, &lock) == 0;
}

bool is_locked_by(int file, rank_t rank, pid_t pid) noexcept {
    struct flock lock = lock_of(rank);
    return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid == pid;
}

}  // namespace ucg::node
