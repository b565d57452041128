#include "ucp/core/handler.hpp"

#include <array>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

namespace {

// Indexed by message id.
constexpr std::array<const char*, wire::id_count> names{
    "no message",
    "connection",
    "message",
    "beginning of a message",
    "piece of a message",
    "acknowledgement",
    "request to send",
    "request for data",
    "rendezvous data",
    "end of a transfer",
    "end of a written part",
    "active message",
    "beginning of an active message",
    "request to send of an active message",
    "piece of a stream",
    "stream credit",
    "put",
    "get",
    "data of a get",
    "result on remote memory",
    "atomic operation",
    "request to confirm puts",
    "confirmation of puts",
    "request for credits",
    "grant of credits",
    "request for more messages",
};
static_assert(names.back() != nullptr);

}  // namespace

const char* name_of(uct::am_id id) noexcept {
    return id < names.size() ? names[id] : "unknown";
}

void message_lost(worker& owner, wire::id id, std::size_t length, const char* reason) noexcept {
    owner.log().rejected().error(proto_log, "{}: a message of {} bytes ({}) was dropped", reason,
                                 length, name_of(id));
}

void message_malformed(worker& owner, wire::id id, std::size_t length) noexcept {
    owner.log().rejected().warn(proto_log, "a malformed message of {} bytes ({}) was dropped",
                                length, name_of(id));
}

}  // namespace ucp
