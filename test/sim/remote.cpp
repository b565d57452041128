// Operations of the program on memory of its peers.

#include <algorithm>
#include <cstring>

#include "test/sim/process.hpp"
#include "ucp/capi/handles.hpp"

namespace sim_test {

using ucp::capi::handle;

void process::register_memory() {
    if (all_.plan.remote == 0) return;
    for (std::size_t i = all_.dice.between(1, 2); i > 0; --i) {
        registered fresh;
        fresh.memory = std::make_unique<region>(number_, all_.records.next_call(),
                                                all_.plan.workers, all_.plan.slice_length);
        fresh.writable = memories_.empty() || all_.dice.chance(0.7);
        ucp_mem_map_params_t params{};
        params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                            UCP_MEM_MAP_PARAM_FIELD_PROT;
        params.address = fresh.memory->base();
        params.length = fresh.memory->length();
        params.prot = UCP_MEM_MAP_PROT_REMOTE_READ;
        if (fresh.writable) params.prot |= UCP_MEM_MAP_PROT_REMOTE_WRITE;
        void* packed = nullptr;
        std::size_t length = 0;
        if (ucp_mem_map(handle(*context_), &params, &fresh.registration) != UCS_OK ||
            ucp_rkey_pack(handle(*context_), fresh.registration, &packed, &length) != UCS_OK) {
            all_.records.violation("memory cannot be registered");
            return;
        }
        const auto* bytes = static_cast<const std::byte*>(packed);
        fresh.key.assign(bytes, bytes + length);
        ucp_rkey_buffer_release(packed);
        memories_.push_back(std::move(fresh));
    }
}

void process::forget_keys() {
    for (const auto& [memory, key] : keys_)
        ucp_rkey_destroy(key);
    keys_.clear();
}

void process::unregister_memory() {
    for (const registered& each : memories_)
        ucp_mem_unmap(handle(*context_), each.registration);
    memories_.clear();
}

void process::check_memory() const {
    for (const registered& each : memories_)
        all_.records.check_memory(*each.memory);
}

// The key to a region of the endpoint's peer, unpacked at its first use.
ucp_rkey_h process::key_to(endpoint_record& to, const registered& which) {
    ucp_rkey_h& key = keys_[which.memory.get()];
    if (key == nullptr && ucp_ep_rkey_unpack(to.handle, which.key.data(), &key) != UCS_OK) {
        all_.records.violation("a key cannot be unpacked");
    }
    return key;
}

void process::act_remotely(endpoint_record& to) {
    const std::vector<registered>& memories = all_.processes[to.to]->memories_;
    const registered& which = memories[all_.dice.below(memories.size())];
    const std::uint64_t choice = all_.dice.below(100);
    if (choice < 40) {
        put(to, which);
    } else if (choice < 60) {
        get(to, which);
    } else if (choice < 80) {
        change(to, which);
    } else if (choice < 91) {
        fence();
    } else if (choice < 97) {
        flush(to);
    } else {
        flush_worker();
    }
}

operation_record& process::new_remote(operation_kind kind, const endpoint_record& to,
                                      const registered& which) {
    operation_record& op = new_operation(kind);
    op.endpoint = to.number;
    op.handles_errors = to.handles_errors;
    op.remote = std::make_unique<remote_operation>();
    op.remote->where = which.memory.get();
    op.remote->fences = fences_;
    return op;
}

// Starts the operation. If it was forced to complete at once and could not, undoes the record.
template<class Call>
void process::start_remote(operation_record& op, ucp_request_param_t& param,
                           std::vector<operation_record*>& among, Call&& call) {
    const bool listed = op.remote->refusal == UCS_OK && op.kind != operation_kind::get;
    if (listed) among.push_back(&op);
    if (all_.dice.chance(0.1)) param.op_attr_mask |= UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    if (started(op, call(param), param)) return;
    op.remote->no_resource = true;
    op.remote->result.reset();
    op.data.reset();
    if (listed) std::erase(among, &op);
}

// Returns a random offset in [from, from + room). Low offsets are more likely, so that operations
// collide.
std::size_t process::some_offset(std::size_t from, std::size_t room, std::size_t length) {
    const std::size_t most = room - length;
    return from + (all_.dice.chance(0.5) ? std::min<std::size_t>(most, 8 * all_.dice.below(8))
                                         : all_.dice.below(most + 1));
}

// Chooses the buffer and the offset in the region. Sometimes the choice is invalid on purpose.
void process::describe_remote(operation_record& op, std::size_t from, std::size_t room,
                              ucs_status_t not_allowed) {
    remote_operation& remote = *op.remote;
    remote.length = std::min(some_size(), room);
    layout form = some_layout();
    if (form == layout::generic && all_.dice.chance(0.9)) form = layout::bytes;
    op.data = std::make_unique<payload>(form, remote.length, all_.dice);
    remote.offset = some_offset(from, room, remote.length);
    if (form == layout::generic) {
        remote.refusal = UCS_ERR_UNSUPPORTED;
    } else if (remote.length > 0 && all_.dice.chance(0.02)) {
        remote.offset = remote.where->length() - remote.length + all_.dice.between(1, 100);
        remote.refusal = UCS_ERR_INVALID_ADDR;
    } else if (remote.length > 0) {
        remote.refusal = not_allowed;
    }
}

void process::put(endpoint_record& to, const registered& which) {
    const ucp_rkey_h key = key_to(to, which);
    operation_record& op = new_remote(operation_kind::put, to, which);
    const region& memory = *which.memory;
    describe_remote(op, memory.slice(number_), memory.slice_length(),
                    which.writable ? UCS_OK : UCS_ERR_REJECTED);
    op.remote->id = (std::uint64_t{1} << 62U) | op.number;
    op.data->fill(op.remote->id);
    ucp_request_param_t param = prepare(op);
    start_remote(op, param, which.memory->puts, [&](const ucp_request_param_t& call_param) {
        return ucp_put_nbx(to.handle, op.data->buffer(), op.data->count(),
                           memory.address() + op.remote->offset, key, &call_param);
    });
}

void process::get(endpoint_record& from, const registered& which) {
    const ucp_rkey_h key = key_to(from, which);
    operation_record& op = new_remote(operation_kind::get, from, which);
    const region& memory = *which.memory;
    if (all_.dice.chance(0.5)) {
        describe_remote(op, memory.slice(number_), memory.slice_length(), UCS_OK);
    } else {
        describe_remote(op, memory.slice(0), memory.length() - memory.slice(0), UCS_OK);
    }
    ucp_request_param_t param = prepare(op);
    start_remote(op, param, which.memory->puts, [&](const ucp_request_param_t& call_param) {
        return ucp_get_nbx(from.handle, op.data->buffer(), op.data->count(),
                           memory.address() + op.remote->offset, key, &call_param);
    });
}

void process::change(endpoint_record& to, const registered& which) {
    const ucp_rkey_h key = key_to(to, which);
    operation_record& op = new_remote(operation_kind::atomic, to, which);
    remote_operation& remote = *op.remote;
    counter& chosen = which.memory->counters[all_.dice.below(which.memory->counters.size())];
    remote.changed = &chosen;
    remote.offset = chosen.offset;
    remote.length = chosen.size;
    remote.operand = make_operand(chosen, number_, op.number);
    const bool swaps =
        chosen.operation == UCP_ATOMIC_OP_SWAP || chosen.operation == UCP_ATOMIC_OP_CSWAP;
    if (chosen.operation == UCP_ATOMIC_OP_CSWAP) {
        // The swap may succeed if no other worker has changed the counter since the last fetched
        // value.
        remote.swap = remote.operand;
        remote.operand = initial_value(chosen);
        for (const operation_record* each : chosen.changes) {
            if (each->remote->fetched && all_.dice.chance(0.7)) {
                remote.operand = all_.dice.chance(0.7) ? each->remote->swap : each->remote->before;
            }
        }
    }
    if (swaps || all_.dice.chance(0.5)) {
        remote.result.reset(new std::byte[chosen.size]);
        std::memcpy(remote.result.get(), &remote.swap, chosen.size);
    }
    if (all_.dice.chance(0.02)) {
        remote.offset += all_.dice.between(1, 3);
        remote.refusal = UCS_ERR_INVALID_PARAM;
    } else if (!which.writable) {
        remote.refusal = UCS_ERR_REJECTED;
    }
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(chosen.size);
    if (remote.result != nullptr) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = remote.result.get();
    }
    start_remote(op, param, chosen.changes, [&](const ucp_request_param_t& call_param) {
        // The operand may be reused when the call returns.
        const std::uint64_t operand = remote.operand;
        return ucp_atomic_op_nbx(to.handle, chosen.operation, &operand, 1,
                                 which.memory->address() + remote.offset, key, &call_param);
    });
}

void process::fence() {
    if (ucp_worker_fence(handle(*worker_)) != UCS_OK) all_.records.violation("a fence failed");
    ++fences_;
}

}  // namespace sim_test
