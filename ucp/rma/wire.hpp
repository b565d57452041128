// Messages that carry out operations on memory that no lane reaches. Layout first.
//
//   id             header (bytes)                                                  then
//   rma_put        ep 8, id 8, secret 8, address 8                                 data
//   rma_get        ep 8, id 8, secret 8, address 8, length 8, reply 8              -
//   rma_data       reply 8, offset 8                                               data
//   rma_result     reply 8, status 8, value 8                                      -
//   rma_atomic     ep 8, id 8, secret 8, address 8, operand 8, swap 8, reply 8,
//                  operation 4, size 4                                             -
//   rma_confirm    ep 8, count 8                                                   -
//   rma_confirmed  ep 8, count 8, status 8                                         -
//
// `id`, `secret` and `address` are those of a packed key (ucp/mem/wire.hpp); the owner of the
// memory checks all of them. Puts, and atomics without `reply`, get no reply. A sender that needs
// to know whether they are complete sends rma_confirm. Messages of an endpoint arrive in order, so
// the reply confirms all `count` messages that were sent before. Its status is the first failure
// among the messages since the last reply.
// An endpoint has at most `most_unanswered` operations outstanding that need a reply, and one
// rma_confirm. The owner need not keep more, and treats a peer that exceeds this as an attacker.
#pragma once

#include "ucp/core/wire.hpp"

namespace ucp::wire {

inline constexpr unsigned most_unanswered = 1024;

struct put_header {
    std::uint64_t ep;
    std::uint64_t id;
    std::uint64_t secret;
    std::uint64_t address;
};

struct get_header {
    std::uint64_t ep;
    std::uint64_t id;
    std::uint64_t secret;
    std::uint64_t address;
    std::uint64_t length;
    std::uint64_t reply;
};

struct get_data_header {
    std::uint64_t reply;
    std::uint64_t offset;
};

struct result_header {
    std::uint64_t reply;
    std::int64_t status;  // of a get: the reason why there is no (more) data
    std::uint64_t value;  // of an atomic: the value before the operation
};

struct atomic_header {
    std::uint64_t ep;
    std::uint64_t id;
    std::uint64_t secret;
    std::uint64_t address;
    std::uint64_t operand;    // of cswap: the expected value
    std::uint64_t swap;       // of cswap: the new value
    std::uint64_t reply;      // 0: no reply is wanted
    std::uint32_t operation;  // ucp_atomic_op_t
    std::uint32_t size;       // 4 or 8
};

struct confirm_header {
    std::uint64_t ep;
    std::uint64_t count;
};

struct confirmed_header {
    std::uint64_t ep;
    std::uint64_t count;
    std::int64_t status;
};

static_assert(sizeof(put_header) == 32 && sizeof(get_header) == 48 &&
              sizeof(get_data_header) == 16 && sizeof(result_header) == 24 &&
              sizeof(atomic_header) == 64);

}  // namespace ucp::wire
