// Bounds-checked reading and writing of little-endian fields. Every wire format uses it.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace ucs::wire {

static_assert(std::endian::native == std::endian::little,
              "the wire formats are little-endian; a big-endian host needs byte swaps here");

using view = std::span<const std::byte>;

// A type that is copied to the wire byte by byte: an integer, an enum, an array of bytes, or a
// struct of such members without padding. Every value of its bytes is a valid object, so bool is
// none.
template<class T>
concept field = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
    !std::same_as<T, bool>;

// Returns the object that has exactly these untrusted bytes; nothing if their number differs.
template<field T>
[[nodiscard]] std::optional<T> read(view from) noexcept {
    T value{};
    if (from.size() != sizeof value) return std::nullopt;
    std::memcpy(&value, from.data(), sizeof value);
    return value;
}

// Appends fields to a buffer. A field that does not fit is not written, nor are the ones after it,
// and ok() becomes false. Value type.
class writer {
public:
    explicit writer(std::span<std::byte> into) noexcept : into_(into) {}

    template<field T>
    writer& put(const T& value) noexcept {
        return put_bytes(std::as_bytes(std::span(&value, 1)));
    }
    writer& put_bytes(view bytes) noexcept {
        ok_ = ok_ && bytes.size() <= into_.size() - size_;
        if (!ok_ || bytes.empty()) return *this;
        std::memcpy(into_.data() + size_, bytes.data(), bytes.size());
        size_ += bytes.size();
        return *this;
    }
    // Writes the length in one byte, then the bytes: at most 255.
    writer& put_bytes8(view bytes) noexcept {
        ok_ = ok_ && bytes.size() <= 0xff;
        return put(static_cast<std::uint8_t>(bytes.size())).put_bytes(bytes);
    }
    writer& put_text8(std::string_view text) noexcept {
        return put_bytes8(std::as_bytes(std::span(text)));
    }
    // Writes 7 bits a byte, the lowest first; bit 7 is set in all bytes but the last.
    writer& put_varint(std::uint32_t value) noexcept {
        for (; value >= 0x80; value >>= 7)
            put(static_cast<std::uint8_t>(value | 0x80));
        return put(static_cast<std::uint8_t>(value));
    }

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] view written() const noexcept { return into_.first(size_); }

private:
    std::span<std::byte> into_;
    std::size_t size_ = 0;
    bool ok_ = true;
};

// Takes fields from the front of untrusted bytes. The first field that is missing or invalid makes
// ok() false; from then on every field is zero or empty. `name` describes the field in
// failed_field(). Value type.
class reader {
public:
    explicit reader(view from, std::size_t position = 0) noexcept
        : from_(from), position_(position) {}

    template<field T>
    [[nodiscard]] T get(const char* name = "field") noexcept {
        return read<T>(bytes(sizeof(T), name)).value_or(T{});
    }
    [[nodiscard]] view bytes(std::size_t count, const char* name = "field") noexcept {
        if (count > left()) fail(name);
        if (!ok()) return {};
        position_ += count;
        return from_.subspan(position_ - count, count);
    }
    // Reads what writer::put_bytes8(), put_text8() and put_varint() write.
    [[nodiscard]] view bytes8(const char* name = "field", std::size_t most = 0xff) noexcept {
        const std::size_t count = get<std::uint8_t>(name);
        if (count > most) fail(name);
        return bytes(count, name);
    }
    [[nodiscard]] std::string_view text8(const char* name = "field",
                                         std::size_t most = 0xff) noexcept {
        const view text = bytes8(name, most);
        return {reinterpret_cast<const char*>(text.data()), text.size()};
    }
    [[nodiscard]] std::uint32_t varint(const char* name = "field") noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto part = get<std::uint8_t>(name);
            value |= std::uint64_t{part & 0x7fU} << shift;
            if ((part & 0x80) == 0) break;
            if (shift == 28) fail(name);
        }
        if (value > 0xffffffffU) fail(name);
        return static_cast<std::uint32_t>(value);
    }

    // Records that a field is invalid, unless one was before.
    void fail(const char* name) noexcept {
        if (ok()) failed_ = name;
    }
    [[nodiscard]] bool ok() const noexcept { return failed_ == nullptr; }
    [[nodiscard]] const char* failed_field() const noexcept { return failed_; }
    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    [[nodiscard]] std::size_t left() const noexcept { return from_.size() - position_; }
    [[nodiscard]] view rest() const noexcept { return from_.subspan(position_); }
    // Returns whether all fields were valid, and no bytes are left.
    [[nodiscard]] bool is_complete() const noexcept { return ok() && left() == 0; }

private:
    view from_;
    std::size_t position_;
    const char* failed_ = nullptr;
};

}  // namespace ucs::wire
