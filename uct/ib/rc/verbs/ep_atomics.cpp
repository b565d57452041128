// Atomic operations. The device has two on words of 64 bits: add, and compare and swap. The others
// are made of these: the word is read (by adding nothing, so that it is read whole), and swapped
// against what the operation makes of it, again and again until nobody was in between. So all of
// them are the device's, and lose nothing against each other.
#include <cstring>

#include "uct/base/atomic_value.hpp"
#include "uct/ib/rc/verbs/ep.hpp"

namespace uct::rc {
namespace {

// Lies in the bytes of a descriptor, behind the device's answer.
struct run {
    atomic_op what;
    std::uint64_t word;      // address of the word of 64 bits
    std::uint64_t expected;  // what was there when it was looked at last
    void* before;
    verbs_ep* ep;
    std::uint32_t key;
    std::uint8_t shift;  // of a number of 32 bits in its word
    enum class step : std::uint8_t { one, look, swap } at;
};
constexpr std::size_t answer_size = sizeof(std::uint64_t);
static_assert(answer_size + sizeof(run) <= direct::beside && std::is_trivially_copyable_v<run>);

run& run_of(direct& op) noexcept {
    return *std::launder(reinterpret_cast<run*>(op.bytes.data() + answer_size));
}

std::uint64_t answer_of(const direct& op) noexcept {
    std::uint64_t word;
    std::memcpy(&word, op.bytes.data(), sizeof word);
    return word;
}

std::uint64_t number_in(const run& of, std::uint64_t word) noexcept {
    return of.what.size == 8 ? word : static_cast<std::uint32_t>(word >> of.shift);
}

// The word with what the operation makes of the number in it.
std::uint64_t word_after(const run& of, std::uint64_t word) noexcept {
    if (of.what.size == 8) return value_after<std::uint64_t>(of.what, word);
    const auto number = static_cast<std::uint32_t>(word >> of.shift);
    const std::uint64_t mask = std::uint64_t{0xffffffff} << of.shift;
    return (word & ~mask) | std::uint64_t{value_after<std::uint32_t>(of.what, number)} << of.shift;
}

ibv_send_wr request_of(const run& of, ibv_sge& answer) noexcept {
    ibv_send_wr request{};
    request.sg_list = &answer;
    request.num_sge = 1;
    request.wr.atomic.remote_addr = of.word;
    request.wr.atomic.rkey = of.key;
    const bool swaps =
        of.at == run::step::swap || (of.at == run::step::one && of.what.what == atomic_kind::cswap);
    request.opcode = swaps ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (of.at == run::step::one) {
        request.wr.atomic.compare_add = of.what.operand;
        request.wr.atomic.swap = of.what.swap;
    } else if (swaps) {
        request.wr.atomic.compare_add = of.expected;
        request.wr.atomic.swap = word_after(of, of.expected);
    }
    return request;
}

void end(direct& op) noexcept {
    const run& of = run_of(op);
    if (op.status == UCS_OK && of.before != nullptr) {
        const std::uint64_t was =
            number_in(of, of.at == run::step::swap ? of.expected : answer_of(op));
        std::memcpy(of.before, &was, of.what.size);
    }
    direct::end(op);
}

ucs_status_t refuse(const atomic_op& what, std::uint64_t address, ucs_status_t status,
                    const char* why) {
    ucs::log::error(ib::ib_log, "an atomic operation on {} bytes at {:#x} is refused: {}",
                    what.size, address, why);
    return status;
}

ucs_status_t mistake_in(const atomic_op& what, const remote_place& at, const void* before) {
    if (!what.possible()) {
        return refuse(what, at.address, UCS_ERR_INVALID_PARAM,
                      "there is no such operation, or numbers of that size have none");
    }
    if (what.must_fetch() && before == nullptr) {
        return refuse(what, at.address, UCS_ERR_INVALID_PARAM,
                      "a swap needs to know where its answer belongs");
    }
    if (at.address % what.size != 0) {
        return refuse(what, at.address, UCS_ERR_INVALID_PARAM, "that is no multiple of the size");
    }
    const auto& memory = static_cast<const ib::remote_region&>(*at.in);
    if (!memory.covers(at.address, what.size)) {
        return refuse(what, at.address, UCS_ERR_INVALID_ADDR, "outside of the memory");
    }
    if (memory.allowed() == memory_access::read) {
        return refuse(what, at.address, UCS_ERR_REJECTED, "the memory is reached to be read only");
    }
    // A number of 32 bits whose word is not all there; nobody has a way for that.
    if (!memory.covers(at.address & ~std::uint64_t{7}, 8)) return UCS_ERR_UNSUPPORTED;
    return UCS_OK;
}

}  // namespace

// Goes on with an operation; also as tx_op::finish.
void verbs_ep::go_on(tx_op& self) noexcept {
    auto& op = static_cast<direct&>(self);
    run& of = run_of(op);
    if (op.status != UCS_OK) return end(op);
    if (op.asked) {
        op.asked = false;
        const std::uint64_t answer = answer_of(op);
        if (of.at == run::step::one) return end(op);
        if (of.at == run::step::swap && answer == of.expected) return end(op);
        of.at = run::step::swap;
        of.expected = answer;
        if (word_after(of, answer) == answer) return end(op);
    }
    // What its endpoint has left undone, it leaves undone.
    if (op.on->user == nullptr) {
        op.status = UCS_ERR_CANCELED;
        return end(op);
    }
    const ucs_status_t status = of.ep->ask(op);
    if (status == UCS_ERR_NO_RESOURCE) {
        of.ep->owner().try_later(op);
    } else if (status != UCS_OK) {
        op.status = status;
        end(op);
    }
}

ucs_status_t verbs_ep::ask(direct& op) noexcept {
    if (!may_access()) return why_not();
    ibv_sge answer = op.beside_piece(answer_size);
    ibv_send_wr request = request_of(run_of(op), answer);
    if (const ucs_status_t status = post(request, true); status != UCS_OK) return status;
    op.asked = true;
    connection_->add(op);
    return UCS_OK;
}

ucs_status_t verbs_ep::atomic(const atomic_op& what, const remote_place& at, void* before,
                              completion* done) {
    if (const ucs_status_t status = mistake_in(what, at, before); status != UCS_OK) return status;
    if (!may_access()) [[unlikely]]
        return why_not();
    direct* const op = own().pools().get_direct();
    if (op == nullptr) return UCS_ERR_NO_MEMORY;
    const std::uint64_t word = at.address & ~std::uint64_t{7};
    const bool by_device =
        what.size == 8 && (what.what == atomic_kind::add || what.what == atomic_kind::cswap);
    ::new (op->bytes.data() + answer_size)
        run{.what = what,
            .word = word,
            .expected = 0,
            .before = before,
            .ep = this,
            .key = static_cast<const ib::remote_region&>(*at.in).key(),
            .shift = static_cast<std::uint8_t>((at.address - word) * 8),
            .at = by_device ? run::step::one : run::step::look};
    op->on = connection_.get();
    op->done = done;
    op->finish = go_on;
    if (const ucs_status_t status = ask(*op); status != UCS_OK) {
        op->put_back();
        return status;
    }
    if (!by_device) connection_->add_stepped(*op);
    count(what.size);
    return UCS_INPROGRESS;
}

}  // namespace uct::rc
