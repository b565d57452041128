// Wire format of byte streams. Layout first.
//
//   id             header (bytes)       then
//   stream_data    ep 8                 bytes of the stream, which follow those before
//   stream_credit  ep 8, limit 8        -
//
// See ucp/core/wire.hpp for the version rule and the meaning of `ep`. `limit` is the total number
// of bytes that may be sent, counted from the beginning of the stream. It begins at
// first_stream_window. The value no_reader means that it will not rise again, because the program
// has closed its endpoint.
#pragma once

#include <cstddef>

#include "ucp/core/wire.hpp"

namespace ucp::wire {

inline constexpr std::size_t first_stream_window = std::size_t{256} << 10;

inline constexpr std::uint64_t no_reader = 0;

struct stream_data_header {
    std::uint64_t ep;
};

struct stream_credit_header {
    std::uint64_t ep;
    std::uint64_t limit;
};
static_assert(sizeof(stream_data_header) == 8 && sizeof(stream_credit_header) == 16);

}  // namespace ucp::wire
