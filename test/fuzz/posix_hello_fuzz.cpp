// Arbitrary bytes as challenge, reply, hello, goodbye and address: the parsers must refuse them or
// return valid values.
#include <cstdlib>

#include "uct/sm/base/address.hpp"
#include "uct/sm/posix/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto answer = uct::posix::parse_hello(bytes);
    if (answer.value && !answer.value->geometry().valid()) std::abort();
    if (answer.value.has_value() != answer.reason.empty()) std::abort();
    const auto challenge = uct::posix::parse_challenge(bytes);
    const auto reply = uct::posix::parse_reply(bytes);
    if (challenge.value.has_value() != challenge.reason.empty()) std::abort();
    if (reply.value.has_value() != reply.reason.empty()) std::abort();
    if (answer.value.has_value() + challenge.value.has_value() + reply.value.has_value() > 1)
        std::abort();
    if (uct::posix::parse_goodbye(bytes) && uct::posix::is_wake_up_call(bytes)) std::abort();
    const auto cma = uct::sm::parse_cma_address(bytes);
    if (cma && static_cast<int>(cma->pid) <= 0) std::abort();
    const auto posix = uct::sm::parse_posix_address(bytes);
    if (posix && static_cast<int>(posix->pid) <= 0) std::abort();
    return 0;
}
