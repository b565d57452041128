// The identity of a remote worker: its public key and its address.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ucp/address/address.hpp"
#include "ucs/security/key.hpp"

namespace ucp {

class worker;

// Identity of one remote worker, as this worker knows it. Owner context.
class peer_identity {
public:
    // Source of the address. A claimed address comes from a client that has proven nothing. Only
    // the endpoints of clients that claim it use it, until the program or the worker itself gives
    // the same address.
    enum class source : std::uint8_t { given, claimed };

    peer_identity(worker& owner, const ucs::security::public_key& key, source from,
                  std::vector<std::byte> packed) noexcept
        : owner_(owner),
          key_(key),
          uid_(address::uid_of(key)),
          source_(from),
          packed_(std::move(packed)) {}

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // The public key that identifies the worker. All 0: the worker is not known yet.
    [[nodiscard]] const ucs::security::public_key& key() const noexcept { return key_; }
    // Returns whether the remote worker is this worker itself.
    [[nodiscard]] bool is_self() const noexcept;
    [[nodiscard]] source origin() const noexcept { return source_; }
    [[nodiscard]] bool is_claimed() const noexcept { return source_ == source::claimed; }
    // Marks the claimed address as given: the program or the worker itself has given the same one.
    void confirm() noexcept { source_ = source::given; }

    // The packed address. Empty: a client does not know its server's worker yet, see ucp/cm.
    [[nodiscard]] const std::vector<std::byte>& packed() const noexcept { return packed_; }
    [[nodiscard]] ucs::result<address::worker_address> parse() const {
        return address::parse(std::span<const std::byte>(packed_));
    }
    void replace_address(std::span<const std::byte> packed) {
        packed_ = std::vector<std::byte>(packed.begin(), packed.end());
    }
    // Returns whether `packed` begins with this address.
    [[nodiscard]] bool has_address(std::span<const std::byte> packed) const noexcept;
    // Returns whether the given address equals this one or has further interfaces.
    [[nodiscard]] bool is_part_of(std::span<const std::byte> packed) const;

    // Returns the key that authenticates connection messages between the two workers, see
    // ucp/wireup/proof.hpp. Returns nullptr when the worker is not known yet, or when no worker can
    // have its public key. The key is computed at first use.
    [[nodiscard]] const ucs::security::key* shared_key() noexcept;
    // The name of the worker, made safe for terminals.
    [[nodiscard]] std::string worker_name() const;

private:
    worker& owner_;
    const ucs::security::public_key key_;
    const std::uint64_t uid_;
    source source_;
    std::vector<std::byte> packed_;
    std::unique_ptr<ucs::security::key> shared_key_;
};

}  // namespace ucp
