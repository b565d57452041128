// Assembles fragmented messages.
#pragma once

#include <unordered_map>

#include "ucp/core/slots.hpp"
#include "ucp/eager/assembly.hpp"
#include "ucp/eager/wire.hpp"
#include "ucs/random/siphash.hpp"
#include "ucs/sys/usable_memory.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Slot of an endpoint: messages that cannot end without the peer; they are dropped when it is gone.
struct partial_messages {
    explicit partial_messages(ep&) noexcept {}

    ucs::datastruct::auto_list<assembly, &assembly::sender_hook> list;
};

// Keeps the messages of which fragments are missing. The meaning of the data is left to their
// sinks. The slot of a worker; owner context.
class assembler {
public:
    explicit assembler(worker& owner) noexcept : owner_(owner) {}
    assembler(const assembler&) = delete;
    assembler& operator=(const assembler&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }

    // Bytes of memory needed for each message in addition to its data.
    static constexpr std::uint64_t cost_of_message =
        ucs::sys::heap_cost(sizeof(assembly) + 4 * sizeof(std::uint64_t));

    // Registers the handler of the second and later fragments.
    void listen(uct::iface& iface);

    // Returns true if a first fragment repeats a known one.
    [[nodiscard]] bool is_known(const wire::eager_first_header& header) const {
        return messages_.contains({header.ep, header.message});
    }

    // Begins a message with `length` bytes of its data. The caller sets the destination of the
    // data. Returns nullptr if there is no memory.
    assembly* begin(ep& from, const wire::eager_first_header& header, std::size_t length,
                    const assembly_sink& sink) noexcept;

    // Drops the rest of the message without a call of the sink.
    void drop(const assembly& unwanted) { messages_.erase({unwanted.ep, unwanted.number}); }

    // Drops the incomplete messages of a failed sender and notifies their sinks.
    void forget_sender(ep& failed);

    [[nodiscard]] std::size_t count() const noexcept { return messages_.size(); }

private:
    struct key {
        std::uint64_t ep;
        std::uint64_t number;
        bool operator==(const key&) const = default;
    };
    // The hash is keyed because the sender chooses the number.
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
