// Reading and writing fixed little-endian fields.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

namespace uct::tcp {

static_assert(std::endian::native == std::endian::little,
              "the wire format is little-endian; a big-endian host needs byte swaps here");

// Appends fields to a buffer that is known to be large enough. Value type.
class field_writer {
public:
    explicit field_writer(std::span<std::byte> into) noexcept : at_(into.data()) {}
    template<class Integer>
    field_writer& put(Integer value) noexcept {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
        return *this;
    }
    field_writer& put_bytes(std::span<const std::byte> bytes) noexcept {
        std::memcpy(at_, bytes.data(), bytes.size());
        at_ += bytes.size();
        return *this;
    }

private:
    std::byte* at_;
};

// Reads fields from untrusted bytes. Past the end it returns zeros and ok() becomes false. Value
// type.
class field_reader {
public:
    explicit field_reader(std::span<const std::byte> from) noexcept : rest_(from) {}
    template<class Integer>
    Integer get() noexcept {
        Integer value{};
        if (const auto piece = take(sizeof value); !piece.empty()) {
            std::memcpy(&value, piece.data(), sizeof value);
        }
        return value;
    }
    std::span<const std::byte> take(std::size_t count) noexcept {
        if (rest_.size() < count) {
            ok_ = false;
            return {};
        }
        const auto piece = rest_.first(count);
        rest_ = rest_.subspan(count);
        return piece;
    }
    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

private:
    std::span<const std::byte> rest_;
    bool ok_ = true;
};

}  // namespace uct::tcp
