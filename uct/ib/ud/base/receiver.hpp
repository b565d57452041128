// The receiving side of connections, without any device.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ucs/datastruct/id_table.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/ib/ud/base/assembly.hpp"
#include "uct/ib/ud/base/datagram_source.hpp"
#include "uct/ib/ud/base/peer.hpp"
#include "uct/ib/ud/base/receive_window.hpp"

namespace uct::ib {
struct receive_buffer;
}

namespace uct::ud {

struct source_share;

// A packet that came early. It stays in the buffer that the device wrote.
struct kept_packet {
    ib::receive_buffer* buffer = nullptr;
    std::uint32_t length = 0;
};

// The receiving side of a connection. It is created by the request of a peer, and removed by its
// goodbye, or after a silence that is longer than the peer's own timeout. Owned by a
// receiver_table; owner context.
class receiver {
public:
    receiver(std::shared_ptr<peer> from, const wire::hello& hello, psn expected) noexcept
        : window(expected),
          from_(std::move(from)),
          source_(hello.connection),
          timeout_(hello.timeout),
          confirmed_(expected),
          resync_(hello.request_number - 1) {}

    [[nodiscard]] peer& from() const noexcept { return *from_; }
    // Ids of the connection: at the peer, and at this interface.
    [[nodiscard]] std::uint64_t source() const noexcept { return source_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // Returns true if that resync request is newer than all before, and records it.
    [[nodiscard]] bool is_new_resync(std::uint32_t request_number) noexcept {
        if (static_cast<std::int32_t>(request_number - resync_) <= 0) return false;
        resync_ = request_number;
        return true;
    }

    // Records the sender's oldest unacknowledged packet, as a request names it.
    void confirm(psn oldest) noexcept {
        if (oldest == window.expected() && !parts.is_open()) confirmed_ = oldest;
    }
    // Returns true if the sender knows of all delivered packets. Then this receiver may be removed
    // at any time: the sender requests it again, and no packet is lost or delivered twice.
    [[nodiscard]] bool is_forgettable() const noexcept {
        return window.expected() == confirmed_ && !parts.is_open();
    }
    // Returns true if packets have been kept since the last sweep and the packet before them has
    // not come since then. Must be called once in each sweep.
    [[nodiscard]] bool is_stalled() noexcept {
        const std::optional<psn> before = std::exchange(awaited_, std::nullopt);
        if (window.kept() == 0) return false;
        awaited_ = window.expected();
        return before == awaited_;
    }
    // Frees memory that is needed only for incomplete messages and early packets.
    void release_memory() noexcept {
        if (window.kept() > 0) return;
        parts.release();
        window.release_slots();
    }

    receive_window<kept_packet> window;
    assembly parts;

    // Packets since the last acknowledgement, and whether the acknowledgement is urgent. See
    // pending_acknowledgements.
    std::uint32_t unacknowledged = 0;
    bool is_urgent = false;
    bool heard = true;  // since the last sweep
    ucs::datastruct::auto_unlink_hook pending_ack_hook;
    ucs::datastruct::auto_unlink_hook table_hook, share_hook;  // of receiver_table

private:
    friend class receiver_table;
    const std::shared_ptr<peer> from_;
    const std::uint64_t source_;
    const std::uint32_t timeout_;  // seconds
    const std::uint64_t number_ = next_connection_number();
    std::uint64_t id_ = 0;
    psn confirmed_;
    std::optional<psn> awaited_;  // the expected packet at the last sweep, if packets were kept
    std::uint32_t resync_;        // number of the newest resync request
    source_share* share_ = nullptr;
    double silent_ = 0;  // seconds, in whole sweeps
};

// The receivers and kept packets of one source in a receiver_table.
struct source_share {
    using receiver_list = ucs::datastruct::auto_list<receiver, &receiver::share_hook>;

    datagram_source source;
    receiver_list receivers;
    std::size_t count = 0;   // of the receivers
    std::uint32_t kept = 0;  // packets in their windows
};

// Receivers by their own id, and by the connection of their sender. Owner context.
//
// Every process that knows the interface's address can request connections, so their number is
// limited: for each datagram_source, and in total. When a limit is reached, a new connection
// displaces a forgettable one. If the table is full and there is no forgettable one, the new
// connection displaces one of a source that has more connections than its own source.
class receiver_table {
public:
    struct limits {
        std::size_t all = 1U << 17U;
        // An endpoint of the layer above makes one connection to an interface. Programs that use
        // the transport itself, or whose closed endpoints wait for acknowledgements, need more.
        std::size_t per_source = 1024;
    };
    receiver_table() noexcept : receiver_table(limits()) {}
    explicit receiver_table(const limits& with) noexcept;

    [[nodiscard]] receiver* find(std::uint64_t id) noexcept {
        auto* const found = by_id_.find(id);
        return found == nullptr ? nullptr : found->get();
    }
    // Returns the receiver of that connection of that interface, or nullptr.
    [[nodiscard]] receiver* find(const wire::address& from, std::uint64_t connection) noexcept;
    // Whether a connection from `source` may be added, and the receiver that the caller must remove
    // first, if any. Unless that receiver is forgettable, the caller must notify its sender.
    struct admission {
        bool admitted = false;
        receiver* displaced = nullptr;
    };
    [[nodiscard]] admission admit(const datagram_source& source) noexcept;
    // Adds a receiver. It must have been admitted, and there must be none for the connection.
    // May throw std::bad_alloc.
    receiver& add(std::shared_ptr<peer> from, const wire::hello& hello, psn expected,
                  const datagram_source& source);
    void remove(receiver& gone) noexcept;

    // To be called every `seconds`. Calls `visit` with each receiver that was silent for twice the
    // timeout of its sender. `visit` may remove it.
    template<class Visit>
    void sweep(double seconds, Visit&& visit) {
        by_id_.for_each([&](std::uint64_t, std::unique_ptr<receiver>& each) {
            each->silent_ = std::exchange(each->heard, false) ? 0 : each->silent_ + seconds;
            if (each->silent_ > 2.0 * each->timeout_) visit(*each);
        });
    }
    template<class Visit>
    void for_each(Visit&& visit) {
        by_id_.for_each([&](std::uint64_t, std::unique_ptr<receiver>& each) { visit(*each); });
    }
    void append_numbers(std::vector<std::uint64_t>& into) const {
        for (const auto& [source, each] : by_source_)
            into.push_back(each->number());
    }
    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }

    // Kept packets hold buffers that the device needs. Up to `most` packets may be kept, and one
    // source may keep at most as many as all sources leave free: this is the dynamic threshold of
    // Choudhury and Hahne (IEEE/ACM Transactions on Networking, 1998). So a source always leaves
    // some for the others.
    [[nodiscard]] bool may_keep(const receiver& in, std::size_t most) const noexcept {
        return kept_ < most && in.share_->kept < most - kept_;
    }
    void count_kept(receiver& in) noexcept {
        ++in.share_->kept;
        ++kept_;
    }
    void count_released(receiver& from) noexcept {
        --from.share_->kept;
        --kept_;
    }
    [[nodiscard]] std::uint32_t kept() const noexcept { return kept_; }

private:
    struct key {
        wire::address from;
        std::uint64_t connection;
        friend bool operator==(const key&, const key&) = default;
    };
    // The sender chooses both members, so the hash has a secret key.
    struct hash {
        ucs::sys::hash_key secret;
        std::size_t operator()(const key& hashed) const noexcept {
            const std::size_t from = wire::address_hash(secret)(hashed.from);
            return ucs::sys::siphash(secret, from ^ hashed.connection);
        }
    };
    using table_list = ucs::datastruct::auto_list<receiver, &receiver::table_hook>;
    template<class List>
    [[nodiscard]] receiver* best_to_displace(List& candidates) noexcept;

    const limits limits_;
    const ucs::sys::hash_key secret_;
    ucs::datastruct::secret_id_table<std::unique_ptr<receiver>> by_id_;
    std::unordered_map<key, receiver*, hash> by_source_;
    std::unordered_map<datagram_source, source_share, datagram_source_hash> shares_;
    table_list all_;
    std::uint32_t kept_ = 0;
};

}  // namespace uct::ud
