#include "ucg/schedule/flight.hpp"

#include <cassert>
#include <cstring>

#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

bool gate_awaiter::await_ready() const noexcept {
    return awaited.open == 0 && (owner == nullptr || !owner->failed());
}

flight::flight(member& me, rank_t to, const void* out, std::size_t out_bytes) noexcept {
    send(me, to, out, out_bytes);
}

flight::flight(member& me, rank_t from, void* in, std::size_t in_bytes) noexcept {
    receive(me, from, in, in_bytes);
}

flight::flight(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from, void* in,
               std::size_t in_bytes) noexcept {
    exchange(me, to, out, out_bytes, from, in, in_bytes);
}

void flight::send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept {
    assert(gate_.open == 0 || me.owner().failed());
    gate_ = {1, 0, nullptr};
    begin_send(me, to, data, bytes);
}

void flight::receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept {
    assert(gate_.open == 0 || me.owner().failed());
    gate_ = {1, 0, nullptr};
    begin_receive(me, from, data, bytes);
}

void flight::exchange(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from,
                      void* in, std::size_t in_bytes) noexcept {
    assert(gate_.open == 0 || me.owner().failed());
    gate_ = {2, 0, nullptr};
    begin_receive(me, from, in, in_bytes);
    begin_send(me, to, out, out_bytes);
}

void flight::begin_send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept {
    out_.what = action::send;
    out_.channel = me.channel();
    out_.peer = me.peer(to);
    out_.from = data;
    out_.bytes = bytes;
    out_.of = &gate_;
    out_.owner = &me.owner();
    me.owner().post(out_);
}

void flight::begin_receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept {
    in_.what = action::receive;
    in_.channel = me.channel();
    in_.peer = me.peer(from);
    in_.into = data;
    in_.bytes = bytes;
    in_.of = &gate_;
    in_.owner = &me.owner();
    me.owner().post(in_);
}

local_work::local_work(member& me, void* into, const reduction& operands) noexcept
    : operands_(operands) {
    step_.what = action::reduce;
    step_.into = into;
    step_.bytes = operands.count * operands.how->element();
    step_.work = &operands_;
    step_.of = &gate_;
    step_.owner = &me.owner();
    if (operands.count == 0) return;
    gate_.open = 1;
    me.owner().post(step_);
}

local_work::local_work(member& me, void* into, const void* from, std::size_t bytes) noexcept {
    step_.what = action::copy;
    step_.into = into;
    step_.from = from;
    step_.bytes = bytes;
    step_.of = &gate_;
    step_.owner = &me.owner();
    if (bytes == 0 || into == from) return;
    gate_.open = 1;
    me.owner().post(step_);
}

void node_work::begin(member& me, const call& args) noexcept {
    assert(gate_.open == 0 || me.owner().failed());
    args_ = args;
    gate_ = {1, 0, nullptr};
    step_.what = action::together;
    step_.bytes = args.count * args.element;
    step_.asked = &args_;
    step_.of = &gate_;
    step_.owner = &me.owner();
    me.owner().post(step_);
}

void perform(const step& step) noexcept {
    if (step.what == action::copy)
        std::memcpy(step.into, step.from, step.bytes);
    else if (step.what == action::reduce)
        step.work->how->apply(step.into, *step.work);
}

}  // namespace ucg::schedule
