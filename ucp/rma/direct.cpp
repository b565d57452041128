// Carries out an operation by loads and stores when the call could not do so at once: its buffer is
// a list of pieces, its status is reported by a callback, or it waited behind a fence.
#include <array>

#include "ucp/proto/send.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/store.hpp"
#include "uct/sm/memory/apply_atomic.hpp"

namespace ucp {

namespace {

ucs_status_t copy_pieces(remote_op& state) noexcept {
    const std::size_t length = state.buffer.length();
    if (state.buffer.on_device()) {
        return state.kind == send_kind::put ? state.buffer.read(0, state.window, length)
                                            : state.buffer.write(0, state.window, length);
    }
    std::array<uct::iov, 16> pieces;
    std::byte* window = state.window;
    while (state.offset < state.buffer.length()) {
        const dt::piece_list list = state.buffer.pieces(
            state.offset, state.buffer.length() - state.offset, std::span(pieces));
        for (const uct::iov& piece : std::span(pieces).first(list.count)) {
            if (state.kind == send_kind::put) {
                store_once(window, piece.base, piece.length);
            } else {
                store_once(piece.base, window, piece.length);
            }
            window += piece.length;
        }
        state.offset += list.length;
    }
    return UCS_OK;
}

ucs_status_t progress(request& send) {
    auto& state = send.as<remote_op>();
    if (state.kind == send_kind::atomic) {
        const std::uint64_t before = uct::sm::apply_atomic(state.window, state.atomic);
        finish_send(send, scatter(state, 0, &before, state.buffer.length()));
    } else {
        finish_send(send, copy_pieces(state));
    }
    return UCS_OK;
}

}  // namespace

constinit const protocol rma_direct{"rma/direct", "loads and stores in memory that is mapped here",
                                    nullptr, progress, false};

}  // namespace ucp
