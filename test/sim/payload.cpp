#include "test/sim/payload.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sim_test {

namespace {

std::size_t open_count = 0;

}  // namespace

std::byte pattern(std::uint64_t id, std::size_t index) noexcept {
    const std::uint64_t mixed =
        (id * 0x9e3779b97f4a7c15ULL >> 40U) + index * 7 + (index >> 8U) * 13;
    return static_cast<std::byte>(mixed);
}

std::byte stream_byte(std::uint64_t id, std::size_t index) noexcept {
    if (index < sizeof id) return static_cast<std::byte>(id >> (8 * index));
    return pattern(id, index);
}

// User callbacks of a generic datatype. The state of an operation is an allocation, so a missing
// finish is a leak and a second one is a double free.
struct generic_callbacks {
    struct state {
        payload* data;
    };
    static void* start(void* buffer) {
        ++open_count;
        return new state{static_cast<payload*>(buffer)};
    }
    static void* start_pack(void*, const void* buffer, std::size_t) {
        return start(const_cast<void*>(buffer));
    }
    static void* start_unpack(void*, void* buffer, std::size_t) { return start(buffer); }
    static std::size_t packed_size(void* s) { return static_cast<state*>(s)->data->length(); }
    static std::size_t pack(void* s, std::size_t offset, void* into, std::size_t most) {
        payload& data = *static_cast<state*>(s)->data;
        const std::size_t length = std::min(most, data.length() - offset);
        auto* out = static_cast<std::byte*>(into);
        data.visit(offset, length, [&out](std::byte* from, std::size_t, std::size_t size) {
            std::memcpy(out, from, size);
            out += size;
        });
        return length;
    }
    static ucs_status_t unpack(void* s, std::size_t offset, const void* from, std::size_t length) {
        payload& data = *static_cast<state*>(s)->data;
        if (offset > data.length() || length > data.length() - offset) std::abort();
        const auto* in = static_cast<const std::byte*>(from);
        data.visit(offset, length, [&in](std::byte* into, std::size_t, std::size_t size) {
            std::memcpy(into, in, size);
            in += size;
        });
        return UCS_OK;
    }
    static void finish(void* s) {
        --open_count;
        delete static_cast<state*>(s);
    }
    static ucp_datatype_t type() {
        static const struct holder {
            ucp_datatype_t type = 0;
            holder() {
                const ucp_generic_dt_ops_t ops{start_pack, start_unpack, packed_size,
                                               pack,       unpack,       finish};
                if (ucp_dt_create_generic(&ops, nullptr, &type) != UCS_OK) std::abort();
            }
            ~holder() { ucp_dt_destroy(type); }
        } made;
        return made.type;
    }
};

payload::payload(layout kind, std::size_t length, ucs::sys::random& dice)
    : layout_(kind), length_(length) {
    if (kind == layout::words && length % 4 != 0) layout_ = layout::bytes;
    if (kind != layout::pieces) {
        add(length);
        return;
    }
    for (std::size_t left = length; left > 0;) {
        const std::size_t most = dice.chance(0.5) ? left : std::min<std::size_t>(left, 64);
        const std::size_t piece = blocks_.size() > 30 ? left : dice.between(0, most);
        add(piece);
        left -= piece;
    }
    for (const block& each : blocks_)
        pieces_.push_back({each.memory.get(), each.length});
}

void payload::add(std::size_t length) {
    blocks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[length]), length});
    std::fill_n(blocks_.back().memory.get(), length, untouched);
}

void* payload::buffer() noexcept {
    switch (layout_) {
        case layout::pieces:
            return pieces_.data();
        case layout::generic:
            return this;
        case layout::bytes:
        case layout::words:
            break;
    }
    return length_ == 0 ? nullptr : blocks_.front().memory.get();
}

std::size_t payload::count() const noexcept {
    switch (layout_) {
        case layout::pieces:
            return pieces_.size();
        case layout::generic:
            return 1;
        case layout::words:
            return length_ / 4;
        case layout::bytes:
            break;
    }
    return length_;
}

ucp_datatype_t payload::datatype() const noexcept {
    switch (layout_) {
        case layout::pieces:
            return UCP_DATATYPE_IOV;
        case layout::generic:
            return generic_callbacks::type();
        case layout::words:
            return ucp_dt_make_contig(4);
        case layout::bytes:
            break;
    }
    return ucp_dt_make_contig(1);
}

template<class Visit>
void payload::visit(std::size_t offset, std::size_t length, Visit&& piece) {
    std::size_t start = 0;
    for (block& each : blocks_) {
        const std::size_t from = std::max(offset, start);
        const std::size_t to = std::min(offset + length, start + each.length);
        if (from < to) piece(each.memory.get() + (from - start), from, to - from);
        start += each.length;
    }
}

void payload::fill(std::uint64_t id) noexcept {
    visit(0, length_, [id](std::byte* bytes, std::size_t offset, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = pattern(id, offset + i);
    });
}

void payload::fill_stream(std::uint64_t id, std::size_t from) noexcept {
    visit(0, length_, [=](std::byte* bytes, std::size_t offset, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = stream_byte(id, from + offset + i);
    });
}

void payload::spoil() noexcept {
    visit(0, length_, [](std::byte* bytes, std::size_t, std::size_t size) {
        std::fill_n(bytes, size, untouched);
    });
}

std::vector<std::byte> payload::packed() const {
    std::vector<std::byte> all;
    all.reserve(length_);
    const_cast<payload*>(this)->visit(
        0, length_, [&all](const std::byte* bytes, std::size_t, std::size_t size) {
            all.insert(all.end(), bytes, bytes + size);
        });
    return all;
}

template<class Expected>
bool payload::holds_bytes(std::size_t length, Expected&& expected) const noexcept {
    bool same = true;
    const_cast<payload*>(this)->visit(
        0, length_, [&](const std::byte* bytes, std::size_t offset, std::size_t size) {
            for (std::size_t i = 0; i < size; ++i) {
                const std::size_t position = offset + i;
                same &= bytes[i] == (position < length ? expected(position) : untouched);
            }
        });
    return same;
}

bool payload::holds(std::uint64_t id, std::size_t length) const noexcept {
    return holds_bytes(length, [id](std::size_t index) { return pattern(id, index); });
}

bool payload::holds_stream(std::uint64_t id, std::size_t from, std::size_t length) const noexcept {
    return holds_bytes(length, [=](std::size_t index) { return stream_byte(id, from + index); });
}

bool payload::begins_with_stream(std::uint64_t id, std::size_t from,
                                 std::size_t length) const noexcept {
    const std::vector<std::byte> all = packed();
    for (std::size_t i = 0; i < length; ++i) {
        if (all[i] != stream_byte(id, from + i)) return false;
    }
    return true;
}

std::size_t payload::open_states() noexcept {
    return open_count;
}

}  // namespace sim_test
