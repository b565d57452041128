#include "uct/tcp/data/unfinished_frames.hpp"

namespace uct::tcp {

bool unfinished_frames::grow(frame_owner& grower, std::uint64_t bytes) noexcept {
    if (grower.bytes_ == 0) owners_.push_back(grower);
    used_ += bytes - grower.bytes_;
    grower.bytes_ = bytes;
    while (used_ > most_) {
        frame_owner& oldest = owners_.front();
        release(oldest);
        if (&oldest == &grower) return false;
        oldest.drop_unfinished_frame();
    }
    return true;
}

void unfinished_frames::release(frame_owner& former) noexcept {
    if (former.bytes_ == 0) return;
    used_ -= former.bytes_;
    former.bytes_ = 0;
    owners_.erase(owners_.iterator_to(former));
}

}  // namespace uct::tcp
