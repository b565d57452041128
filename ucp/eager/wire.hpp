// Wire format of eager messages, which carry their data. Layout first. Tagged messages and active
// messages share them; the first field holds the tag or the fields of an active message, see
// ucp/core/kind.hpp.
//
//   id             header (bytes)                                      then
//   eager_only     tag_or_id 8                                         data
//   eager_first    tag_or_id 8, total 8, ep 8, message 8, ack 8        first data
//   eager_data     ep 8, message 8, offset 8                           data
//   eager_ack      request 8, status 8                                 -
//   credit_request ep 8                                                -
//   credit_grant   ep 8                                                -
//
// The sender requests credits by credit_request. The receiver grants them by credit_grant over the
// same endpoint, as soon as it has memory for all messages before the request, see
// ucp/proto/eager_window.hpp.
//
// See ucp/core/wire.hpp for the version rule and the meaning of ids.
#pragma once

#include "ucp/core/wire.hpp"

namespace ucp::wire {

struct eager_only_header {
    std::uint64_t tag_or_id;
};

struct eager_first_header {
    std::uint64_t tag_or_id;
    std::uint64_t total;
    std::uint64_t ep;
    std::uint64_t message;
    std::uint64_t ack;  // not 0: acknowledge this request when the message is matched
};

struct eager_data_header {
    std::uint64_t ep;
    std::uint64_t message;
    std::uint64_t offset;
};

struct ack_header {
    std::uint64_t request;
    std::int64_t status;  // result of the match; an error if the message was dropped before
};

struct credit_header {
    std::uint64_t ep;
};

static_assert(sizeof(eager_first_header) == 40 && sizeof(eager_data_header) == 24);

}  // namespace ucp::wire
