#include "ucp/rndv/choice.hpp"

#include <limits>

#include "ucp/core/worker.hpp"
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/proto/tables.hpp"

namespace ucp {

namespace {

// Below this length the second message costs more than half a copy saves.
constexpr std::size_t smallest_split = 64 * 1024;

double& cost_of(rate_history::seconds& costs, rndv_method method) noexcept {
    return costs[static_cast<std::size_t>(method)];
}

struct forecast {
    rate_history::seconds predicted{-1, -1, -1, -1};
    rate_history::seconds preparation{};
};

void add(forecast& to, rndv_method method, double seconds) noexcept {
    cost_of(to.predicted, method) = seconds;
}

// Adds a method whose memory has to be registered first, at the cost `price`. A registration that
// does not last is part of every transfer, and of every observation.
void add(forecast& to, rndv_method method, double seconds, const uct::preparation& ready,
         double price) noexcept {
    cost_of(to.predicted, method) = seconds + (ready.lasts ? 0 : price);
    cost_of(to.preparation, method) = ready.lasts ? price : 0;
}

double least_of(const forecast& made) noexcept {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rndv_method_count; ++i) {
        if (made.predicted[i] >= 0)
            least = std::min(least, made.predicted[i] + made.preparation[i]);
    }
    return least;
}

uct::preparation preparation_of(const request& receive, const peer& from, uct::memory_user user) {
    const recv_state& state = receive.state.recv;
    auto* const buffer = static_cast<std::byte*>(state.buffer.contiguous());
    if (buffer == nullptr) return {};
    return preparation_for(from, {buffer, state.info.length}, uct::memory_access::change, user);
}

// Predicts the methods for lanes over which a device moves the data: the receiver reads, or the
// sender writes. Streaming costs both processors a copy, so not even a trial is worthwhile, unless
// registering memory is predicted to cost more.
forecast predict_keyed(const request& receive, const peer& from, const lane_set& lanes,
                       bool readable) {
    const recv_state& state = receive.state.recv;
    const rndv_scheme wanted = lanes.options->scheme;
    const std::size_t length = state.info.length;
    const bool writable = state.buffer.contiguous() != nullptr;
    const double control = control_seconds(lanes);
    const bool may_move = wanted != rndv_scheme::am;
    const bool read = may_move && readable && (!wants_writing(wanted) || !writable);
    // After a write over several rails a notification would have to follow the last of them, which
    // takes one request more.
    const bool better_read =
        read && (wanted == rndv_scheme::get_zcopy || rails_for(from, length) > 1);
    const bool write = may_move && writable && !better_read;
    const auto to_read = preparation_of(receive, from, uct::memory_user::own);
    const auto to_be_written = preparation_of(receive, from, uct::memory_user::peer);
    // Registration for writing allows reading as well: if that is known, both are.
    const uct::preparation& least = read ? to_read : to_be_written;
    const double price = slot_of<protocol_tables>(*receive.owner).reuse.price_of(least);
    forecast made;
    if (read) {
        add(made, rndv_method::read, control + read_seconds(lanes, length), to_read, price);
    }
    if (write) {
        const double writing =
            readable ? write_seconds(lanes, length) : write_copied_seconds(lanes, length);
        const double more =
            to_be_written.seconds > 0 && to_read.seconds <= 0
                ? to_be_written.seconds  // the memory is registered with fewer rights
                : price;
        add(made, rndv_method::write, 2 * control + writing, to_be_written, more);
    }
    const double streaming = control + pipeline_seconds(lanes, length);
    const bool is_cheaper =
        wanted == rndv_scheme::automatic && price > 0 && streaming < least_of(made);
    if ((!read && !write) || is_cheaper) add(made, rndv_method::stream, streaming);
    return made;
}

// Predicts the methods for lanes over which processors copy. The split method is used only if the
// connection ends with the peer's process or when the peer says so: a sender that is taken for dead
// must not write into memory any more.
forecast predict_copied(const request& receive, const lane_set& lanes) {
    const recv_state& state = receive.state.recv;
    const std::size_t length = state.info.length;
    const bool divisible = length >= smallest_split && state.buffer.contiguous() != nullptr &&
                           lanes.am->reach == uct::scope::host &&
                           lanes.rma->ops.has(uct::op::put_zcopy);
    const bool may_stream =
        lanes.options->scheme != rndv_scheme::get_zcopy && lanes.am->reach != uct::scope::process;
    const double control = control_seconds(lanes);
    forecast made;
    add(made, rndv_method::read, read_seconds(lanes, length));
    if (divisible) add(made, rndv_method::split, control + read_seconds(lanes, length / 2));
    if (may_stream) add(made, rndv_method::stream, control + pipeline_seconds(lanes, length));
    return made;
}

}  // namespace

uct::preparation preparation_for(const peer& with, std::span<std::byte> bytes,
                                 uct::memory_access access, uct::memory_user user) noexcept {
    uct::preparation all;
    for (std::size_t i = 0; i < rails_for(with, bytes.size()); ++i) {
        const auto one = with.lanes().rail(i).domain()->preparation_of(bytes, access, user);
        all.seconds += one.seconds;
        all.lasts = all.lasts && one.lasts;
    }
    return all;
}

rndv_method choose_method(const request& receive, const ep& from, bool readable) {
    const peer& remote = from.remote();
    const std::size_t length = receive.state.recv.info.length;
    const lane_set lanes = lane_set_for(remote, length);
    const forecast made = lanes.rma->keyed ? predict_keyed(receive, remote, lanes, readable)
                                           : predict_copied(receive, lanes);
    return slot_of<rndv_rates>(*receive.owner)
        .of(lanes.rma->keyed)
        .choose(length, made.predicted, made.preparation);
}

bool pays_in_place(const request& send, uct::memory_user user) noexcept {
    const peer& to = send.via->remote();
    auto* const buffer = static_cast<const std::byte*>(send.state.send.buffer.contiguous());
    if (to.lanes().rail_count() == 0 || buffer == nullptr) return true;
    const std::size_t length = send.state.send.buffer.length();
    const lane_set lanes = lane_set_for(to, length);
    if (lanes.options->scheme != rndv_scheme::automatic) {
        return lanes.options->scheme != rndv_scheme::put_ppln;
    }
    const double price =
        slot_of<protocol_tables>(*send.owner)
            .reuse.price_of(preparation_for(to, {const_cast<std::byte*>(buffer), length},
                                            uct::memory_access::read, user));
    if (price <= 0) return true;
    const double control = control_seconds(lanes);
    const double in_place = user == uct::memory_user::peer
                                ? control + read_seconds(lanes, length)
                                : 2 * control + write_seconds(lanes, length);
    return price + in_place <= 2 * control + write_copied_seconds(lanes, length);
}

}  // namespace ucp
