// Puts fragmented messages together.
#pragma once

#include <unordered_map>

#include "ucp/eager/assembly.hpp"
#include "ucp/eager/wire.hpp"
#include "ucs/sys/heap_cost.hpp"
#include "ucs/sys/siphash.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Knows the messages of which not all is here. What the parts mean is their sink's business. Owned
// by its worker; owner context.
class assembler {
public:
    explicit assembler(worker& owner) noexcept : owner_(owner) {}
    assembler(const assembler&) = delete;
    assembler& operator=(const assembler&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }

    // Bytes that it keeps of each message beside the data.
    static constexpr std::uint64_t cost_of_message =
        ucs::sys::heap_cost(sizeof(assembly) + 4 * sizeof(std::uint64_t));

    // Registers the handler of fragments behind the first.
    void listen(uct::iface& on);

    // Whether a first fragment repeats one.
    [[nodiscard]] bool knows(const wire::eager_first_header& header) const {
        return messages_.contains({header.ep, header.message});
    }

    // A message begins with `length` bytes of its data; the caller says where the data goes.
    // nullptr: no memory.
    assembly* begin(ep& from, const wire::eager_first_header& header, std::size_t length,
                    const assembly_sink& sink) noexcept;

    // The rest is dropped, without a call of the sink.
    void drop(const assembly& unwanted) { messages_.erase({unwanted.ep, unwanted.number}); }

    // Drops what a failed sender left half, and tells the sinks.
    void forget_sender(ep& failed);

    [[nodiscard]] std::size_t count() const noexcept { return messages_.size(); }

private:
    struct key {
        std::uint64_t ep;
        std::uint64_t number;
        bool operator==(const key&) const = default;
    };
    // The sender chooses the number.
    struct key_hash {
        ucs::sys::hash_key secret;
        std::size_t operator()(const key& hashed) const noexcept {
            using ucs::sys::quick_hash;
            return quick_hash(secret, hashed.ep ^ quick_hash(secret, hashed.number));
        }
    };
    assembly* find(const wire::eager_data_header& header, std::size_t length);
    void deliver(const std::byte* data, std::size_t length);
    void* locate(const void* header, std::size_t length) noexcept;
    void landed(const void* header, std::size_t length);
    void advance(assembly& into, std::size_t length);

    friend class assembler_handlers;

    worker& owner_;
    std::unordered_map<key, assembly, key_hash> messages_{0, key_hash{ucs::sys::random_hash_key()}};
};

}  // namespace ucp
