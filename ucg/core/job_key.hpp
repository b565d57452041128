// A random job key for the ranks of a group that were given none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ucg {

// A random job key, erased from memory when it is destroyed. Value type; nothing prints it.
class random_job_key {
public:
    static constexpr std::size_t size = 32;
    using bytes = std::array<std::byte, size>;

    [[nodiscard]] static random_job_key make() noexcept;
    explicit random_job_key(const bytes& from) noexcept : bytes_(from) {}
    random_job_key(const random_job_key&) noexcept = default;
    random_job_key& operator=(const random_job_key&) noexcept = default;
    ~random_job_key();

    [[nodiscard]] const bytes& data() const noexcept { return bytes_; }
    // Returns a number that identifies the key and reveals nothing about its bytes. Never 0.
    [[nodiscard]] std::uint64_t id() const noexcept;
    // Returns the text that UCX_JOB_KEY takes. The caller erases it.
    [[nodiscard]] std::string text() const;

private:
    bytes bytes_;
};

// The origin of the key of a rank's worker.
enum class key_origin : std::uint32_t {
    open,    // there is no worker yet, and it may get a random key
    fixed,   // the user or the program has decided, or the worker was made without a key
    random,  // a group agreed on a random one
};

// A rank tells the others this about its key. It comes from them, so it may be anything. The bytes
// of a key are zero unless the exchange is private.
struct key_offer {
    std::uint32_t origin = 0;   // a key_origin
    std::uint32_t insists = 0;  // 1: a group without a key is not to be made
    std::uint64_t id = 0;       // of the random key that the rank has or proposes; 0: none
    random_job_key::bytes key{};
};

// The decision of the ranks of a group, which each of them computes from the same offers.
struct key_agreement {
    enum class outcome {
        none,    // workers stay, or are made, as the options say
        random,  // those without a worker take `key`; the others have it, or `key` is empty
        differs  // some ranks have a random key that others cannot get
    };
    outcome result = outcome::none;
    std::optional<random_job_key> key;
    bool insists = false;    // a rank does
    std::size_t member = 0;  // of `differs`: the first member that has no such key
};

// `offers` are those of the members of the group, in the order of its ranks.
[[nodiscard]] key_agreement agree_on_key(std::span<const key_offer> offers) noexcept;

}  // namespace ucg
