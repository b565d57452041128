// Atomic operations. The device supports two on words of 64 bits: fetch-and-add, and
// compare-and-swap. The others are built from these: the word is read atomically (by adding 0), and
// then replaced by a compare-and-swap with the result, repeatedly until no other operation came
// between. So the device performs all of them, and no update is lost.
#include <cstring>

#include "uct/base/atomic_value.hpp"
#include "uct/ib/rc/verbs/ep.hpp"

namespace uct::rc {
namespace {

// State of an operation. It lies in the bytes of a descriptor, after the device's result.
struct run {
    atomic_op change;
    std::uint64_t word;      // address of the word of 64 bits
    std::uint64_t expected;  // the value of the word at the last read
    void* before;
    verbs_ep* ep;
    std::uint32_t key;
    std::uint8_t shift;  // position of a number of 32 bits in its word
    enum class step : std::uint8_t { single, load, swap } current;
};
constexpr std::size_t answer_size = sizeof(std::uint64_t);
static_assert(answer_size + sizeof(run) <= direct::extra_bytes &&
              std::is_trivially_copyable_v<run>);

run& run_of(direct& op) noexcept {
    return *std::launder(reinterpret_cast<run*>(op.bytes.data() + answer_size));
}

std::uint64_t answer_of(const direct& op) noexcept {
    std::uint64_t word;
    std::memcpy(&word, op.bytes.data(), sizeof word);
    return word;
}

std::uint64_t number_in(const run& state, std::uint64_t word) noexcept {
    return state.change.size == 8 ? word : static_cast<std::uint32_t>(word >> state.shift);
}

// Returns the word after the operation on the number in it.
std::uint64_t word_after(const run& state, std::uint64_t word) noexcept {
    if (state.change.size == 8) return value_after<std::uint64_t>(state.change, word);
    const auto number = static_cast<std::uint32_t>(word >> state.shift);
    const std::uint64_t mask = std::uint64_t{0xffffffff} << state.shift;
    return (word & ~mask) | std::uint64_t{value_after<std::uint32_t>(state.change, number)}
                                << state.shift;
}

ibv_send_wr request_of(const run& state, ibv_sge& answer) noexcept {
    ibv_send_wr request{};
    request.sg_list = &answer;
    request.num_sge = 1;
    request.wr.atomic.remote_addr = state.word;
    request.wr.atomic.rkey = state.key;
    const bool swaps =
        state.current == run::step::swap ||
        (state.current == run::step::single && state.change.kind == atomic_kind::cswap);
    request.opcode = swaps ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (state.current == run::step::single) {
        request.wr.atomic.compare_add = state.change.operand;
        request.wr.atomic.swap = state.change.swap;
    } else if (swaps) {
        request.wr.atomic.compare_add = state.expected;
        request.wr.atomic.swap = word_after(state, state.expected);
    }
    return request;
}

void end(direct& op) noexcept {
    const run& state = run_of(op);
    if (op.status == UCS_OK && state.before != nullptr) {
        const std::uint64_t was =
            number_in(state, state.current == run::step::swap ? state.expected : answer_of(op));
        std::memcpy(state.before, &was, state.change.size);
    }
    direct::end(op);
}

ucs_status_t refuse(const atomic_op& change, std::uint64_t address, ucs_status_t status,
                    const char* why) {
    ucs::log::error(ib_log, "an atomic operation on {} bytes at {:#x} is refused: {}", change.size,
                    address, why);
    return status;
}

ucs_status_t mistake_in(const atomic_op& change, const remote_place& place, const void* before) {
    if (!change.possible()) {
        return refuse(change, place.address, UCS_ERR_INVALID_PARAM,
                      "there is no such operation, or numbers of that size have none");
    }
    if (change.must_fetch() && before == nullptr) {
        return refuse(change, place.address, UCS_ERR_INVALID_PARAM,
                      "a swap needs to know where its answer belongs");
    }
    if (place.address % change.size != 0) {
        return refuse(change, place.address, UCS_ERR_INVALID_PARAM,
                      "that is no multiple of the size");
    }
    const auto& memory = static_cast<const ib::remote_region&>(*place.in);
    if (!memory.covers(place.address, change.size)) {
        return refuse(change, place.address, UCS_ERR_INVALID_ADDR, "outside of the memory");
    }
    if (memory.allowed() == memory_access::read) {
        return refuse(change, place.address, UCS_ERR_REJECTED,
                      "the memory is reached to be read only");
    }
    // The memory does not contain the whole word of a number of 32 bits, so the device cannot
    // access it.
    if (!memory.covers(place.address & ~std::uint64_t{7}, 8)) return UCS_ERR_UNSUPPORTED;
    return UCS_OK;
}

}  // namespace

// Continues an operation; also used as tx_op::finish.
void verbs_ep::go_on(tx_op& self) noexcept {
    auto& op = static_cast<direct&>(self);
    run& state = run_of(op);
    if (op.status != UCS_OK) return end(op);
    if (op.asked) {
        op.asked = false;
        const std::uint64_t answer = answer_of(op);
        if (state.current == run::step::single) return end(op);
        if (state.current == run::step::swap && answer == state.expected) return end(op);
        state.current = run::step::swap;
        state.expected = answer;
        if (word_after(state, answer) == answer) return end(op);
    }
    // An unfinished operation of a destroyed endpoint stays unfinished.
    if (op.conn->endpoint == nullptr) {
        op.status = UCS_ERR_CANCELED;
        return end(op);
    }
    const ucs_status_t status = state.ep->ask(op);
    if (status == UCS_ERR_NO_RESOURCE) {
        state.ep->owner().retry_later(op);
    } else if (status != UCS_OK) {
        op.status = status;
        end(op);
    }
}

ucs_status_t verbs_ep::ask(direct& op) noexcept {
    if (!may_access()) return reason_not_to_send();
    ibv_sge answer = op.extra_piece(answer_size);
    ibv_send_wr request = request_of(run_of(op), answer);
    if (const ucs_status_t status = post(request, true); status != UCS_OK) return status;
    op.asked = true;
    connection_->add(op);
    return UCS_OK;
}

ucs_status_t verbs_ep::atomic(const atomic_op& change, const remote_place& place, void* before,
                              completion* done) {
    if (const ucs_status_t status = mistake_in(change, place, before); status != UCS_OK)
        return status;
    if (!may_access()) [[unlikely]]
        return reason_not_to_send();
    direct* const op = own().pools().get_direct();
    if (op == nullptr) return UCS_ERR_NO_MEMORY;
    const std::uint64_t word = place.address & ~std::uint64_t{7};
    const bool by_device =
        change.size == 8 && (change.kind == atomic_kind::add || change.kind == atomic_kind::cswap);
    ::new (op->bytes.data() + answer_size)
        run{.change = change,
            .word = word,
            .expected = 0,
            .before = before,
            .ep = this,
            .key = static_cast<const ib::remote_region&>(*place.in).key(),
            .shift = static_cast<std::uint8_t>((place.address - word) * 8),
            .current = by_device ? run::step::single : run::step::load};
    op->conn = connection_.get();
    op->done = done;
    op->finish = go_on;
    if (const ucs_status_t status = ask(*op); status != UCS_OK) {
        op->put_back();
        return status;
    }
    if (!by_device) connection_->ops.add_stepped(*op);
    count(change.size);
    return UCS_INPROGRESS;
}

}  // namespace uct::rc
