// An endpoint's byte stream in the object tree.
#include "ucp/stream/channel.hpp"

namespace ucp {

void stream_channel::describe(ucs::vfs::directory& into) const {
    into.file("received", [this] { return std::to_string(received_); });
    into.file("stored", [this] { return std::to_string(stored()); });
    into.file("taken", [this] { return std::to_string(taken_); });
    into.file("handed_out", [this] { return std::to_string(handed_out_.size()); });
    into.file("pending_receives", [this] { return std::to_string(waiting_.size()); });
    into.file("window", [this] { return std::to_string(window_); });
    sends.describe(into);
}

void stream_sends::describe(ucs::vfs::directory& into) const {
    into.file("sent", [this] { return std::to_string(sent_); });
    into.file("may_send", [this] { return std::to_string(limit_ - sent_); });
    into.file("blocked_sends", [this] { return std::to_string(blocked_.size()); });
}

}  // namespace ucp
