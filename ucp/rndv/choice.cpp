#include "ucp/rndv/choice.hpp"

#include "ucp/core/worker.hpp"
#include "ucp/proto/pipeline.hpp"

namespace ucp {

namespace {

// Below this the second message costs more than half a copy saves.
constexpr std::size_t smallest_split = 64 * 1024;

double& of(rate_book::seconds& costs, rndv_method which) noexcept {
    return costs[static_cast<std::size_t>(which)];
}

// Where a device moves the data: it is read, or written by the sender. Streaming is for what can be
// neither: it costs both processors a copy, so not even a trial of it pays.
rate_book::seconds predict_keyed(const request& receive, const lane_set& lanes, bool readable) {
    const recv_state& state = receive.state.recv;
    const rndv_scheme wanted = lanes.options->scheme;
    const std::size_t length = state.info.length;
    const bool writable = state.buffer.contiguous() != nullptr;
    const double control = control_seconds(lanes);
    rate_book::seconds predicted{-1, -1, -1, -1};
    const bool may_move = wanted != rndv_scheme::am;
    const bool read = may_move && readable && (wanted != rndv_scheme::put_zcopy || !writable);
    const bool write = may_move && writable && (wanted != rndv_scheme::get_zcopy || !readable);
    if (read) of(predicted, rndv_method::read) = control + read_seconds(lanes, length);
    if (write) {
        of(predicted, rndv_method::write) = 2 * control + write_seconds(lanes, length, readable);
    }
    if (!read && !write) {
        of(predicted, rndv_method::stream) = control + pipeline_seconds(lanes, length);
    }
    return predicted;
}

// Halves are shared only where the connection ends with the peer's process or when the peer says
// so: a sender that is taken for dead must not write into memory any more.
rate_book::seconds predict_copied(const request& receive, const lane_set& lanes) {
    const recv_state& state = receive.state.recv;
    const std::size_t length = state.info.length;
    const bool divisible = length >= smallest_split && state.buffer.contiguous() != nullptr &&
                           lanes.am->reach == uct::scope::host &&
                           lanes.rma->ops.has(uct::op::put_zcopy);
    const bool may_stream =
        lanes.options->scheme != rndv_scheme::get_zcopy && lanes.am->reach != uct::scope::process;
    rate_book::seconds predicted{-1, -1, -1, -1};
    of(predicted, rndv_method::read) = read_seconds(lanes, length);
    if (divisible) {
        of(predicted, rndv_method::split) =
            control_seconds(lanes) + read_seconds(lanes, length / 2);
    }
    if (may_stream) {
        of(predicted, rndv_method::stream) =
            control_seconds(lanes) + pipeline_seconds(lanes, length);
    }
    return predicted;
}

}  // namespace

rndv_method choose_method(const request& receive, const ep& from, bool readable) {
    worker& owner = *receive.owner;
    const peer& remote = from.remote();
    const lane_set lanes{&remote.am_attr(), &remote.rma_attr(), &owner.owner().costs(),
                         &owner.owner().options(), owner.streaming().used()};
    const rate_book::seconds predicted = remote.rma_attr().keyed
                                             ? predict_keyed(receive, lanes, readable)
                                             : predict_copied(receive, lanes);
    return owner.rates().choose(receive.state.recv.info.length, predicted);
}

}  // namespace ucp
