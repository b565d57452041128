#include "ucg/schedule/flight.hpp"

#include <cassert>
#include <cstring>

#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

bool completion_awaiter::await_ready() const noexcept {
    return awaited.pending == 0 && (owner == nullptr || !owner->failed());
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
    assert(counter_.pending == 0 || me.owner().failed());
    counter_ = {1, 0, nullptr};
    begin_send(me, to, data, bytes);
}

void flight::receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept {
    assert(counter_.pending == 0 || me.owner().failed());
    counter_ = {1, 0, nullptr};
    begin_receive(me, from, data, bytes);
}

void flight::exchange(member& me, rank_t to, const void* out, std::size_t out_bytes, rank_t from,
                      void* in, std::size_t in_bytes) noexcept {
    assert(counter_.pending == 0 || me.owner().failed());
    counter_ = {2, 0, nullptr};
    begin_receive(me, from, in, in_bytes);
    begin_send(me, to, out, out_bytes);
}

void flight::begin_send(member& me, rank_t to, const void* data, std::size_t bytes) noexcept {
    out_.kind = action::send;
    out_.channel = me.channel();
    out_.peer = me.peer(to);
    out_.from = data;
    out_.bytes = bytes;
    out_.counter = &counter_;
    out_.owner = &me.owner();
    me.owner().post(out_);
}

void flight::begin_receive(member& me, rank_t from, void* data, std::size_t bytes) noexcept {
    in_.kind = action::receive;
    in_.channel = me.channel();
    in_.peer = me.peer(from);
    in_.into = data;
    in_.bytes = bytes;
    in_.counter = &counter_;
    in_.owner = &me.owner();
    me.owner().post(in_);
}

local_work::local_work(member& me, void* into, const reduction& operands) noexcept
    : operands_(operands) {
    step_.kind = action::reduce;
    step_.into = into;
    step_.bytes = operands.count * operands.op->element();
    step_.operands = &operands_;
    step_.counter = &counter_;
    step_.owner = &me.owner();
    if (operands.count == 0) return;
    counter_.pending = 1;
    me.owner().post(step_);
}

local_work::local_work(member& me, void* into, const void* from, std::size_t bytes) noexcept {
    step_.kind = action::copy;
    step_.into = into;
    step_.from = from;
    step_.bytes = bytes;
    step_.counter = &counter_;
    step_.owner = &me.owner();
    if (bytes == 0 || into == from) return;
    counter_.pending = 1;
    me.owner().post(step_);
}

void node_work::begin(member& me, const call& args) noexcept {
    assert(counter_.pending == 0 || me.owner().failed());
    args_ = args;
    counter_ = {1, 0, nullptr};
    step_.kind = action::node_collective;
    step_.bytes = args.count * args.element;
    step_.node_call = &args_;
    step_.counter = &counter_;
    step_.owner = &me.owner();
    me.owner().post(step_);
}

void perform(const step& step) noexcept {
    if (step.kind == action::copy)
        std::memcpy(step.into, step.from, step.bytes);
    else if (step.kind == action::reduce)
        step.operands->op->apply(step.into, *step.operands);
}

}  // namespace ucg::schedule
