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

// A packet that waits for its turn where the device wrote it.
struct kept_packet {
    ib::receive_buffer* buffer = nullptr;
    std::uint32_t length = 0;
};

// What a peer's endpoint sends here. Made by its request, and gone with its goodbye, or when it was
// silent for longer than it can wait itself. Owned by a receiver_table; owner context.
class receiver {
public:
    receiver(std::shared_ptr<peer> from, const wire::hello& by, psn expected) noexcept
        : window(expected),
          from_(std::move(from)),
          source_(by.connection),
          patience_(by.patience),
          confirmed_(expected),
          resync_(by.question - 1) {}

    [[nodiscard]] peer& from() const noexcept { return *from_; }
    // Id of the connection at the peer, and here.
    [[nodiscard]] std::uint64_t source() const noexcept { return source_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // Whether that question for a resync is a new one; then it is the newest.
    [[nodiscard]] bool is_new_resync(std::uint32_t question) noexcept {
        if (static_cast<std::int32_t>(question - resync_) <= 0) return false;
        resync_ = question;
        return true;
    }

    // The sender's oldest packet without an acknowledgement, as a request says.
    void confirm(psn oldest) noexcept {
        if (oldest == window.expected() && !parts.is_open()) confirmed_ = oldest;
    }
    // Returns whether the sender knows of all that was delivered. Then this may be forgotten at
    // any time: the sender asks again, and nothing is lost or delivered twice.
    [[nodiscard]] bool is_forgettable() const noexcept {
        return window.expected() == confirmed_ && !parts.is_open();
    }
    // Returns whether packets have been kept since the last sweep and the packet before them has
    // not come since then. To be called once in each sweep.
    [[nodiscard]] bool is_stalled() noexcept {
        const std::optional<psn> before = std::exchange(awaited_, std::nullopt);
        if (window.kept() == 0) return false;
        awaited_ = window.expected();
        return before == awaited_;
    }
    // Frees memory that only messages need that are under way.
    void release_memory() noexcept {
        if (window.kept() > 0) return;
        parts.release();
        window.release_places();
    }

    receive_window<kept_packet> window;
    assembly parts;

    // Packets since the last acknowledgement, and whether it is to be sent at once. See
    // owed_acknowledgements.
    std::uint32_t unacknowledged = 0;
    bool is_urgent = false;
    bool heard = true;  // since the last sweep
    ucs::datastruct::auto_unlink_hook owed_hook;
    ucs::datastruct::auto_unlink_hook table_hook, share_hook;  // of receiver_table

private:
    friend class receiver_table;
    const std::shared_ptr<peer> from_;
    const std::uint64_t source_;
    const std::uint32_t patience_;  // seconds
    const std::uint64_t number_ = next_connection_number();
    std::uint64_t id_ = 0;
    psn confirmed_;
    std::optional<psn> awaited_;  // at the last sweep, by packets that are kept
    std::uint32_t resync_;        // the newest question that counts
    source_share* share_ = nullptr;
    double silent_ = 0;  // seconds, in whole sweeps
};

// The share that one source has of a receiver_table.
struct source_share {
    using receiver_list = ucs::datastruct::auto_list<receiver, &receiver::share_hook>;

    datagram_source source;
    receiver_list receivers;
    std::size_t count = 0;   // of the receivers
    std::uint32_t kept = 0;  // packets in their windows
};

// Receivers by their own id, and by who asked for them. Owner context.
//
// Anybody who has the interface's address can ask for connections, so their number is limited: for
// each datagram_source, and for all. When a limit is reached, newcomers displace receivers that are
// forgettable. When all are full and none such is found, a newcomer displaces one of a source that
// has more than its own.
class receiver_table {
public:
    struct limits {
        std::size_t all = 1U << 17U;
        // An endpoint of the layer above makes one connection to an interface. Programs that use
        // the transport itself, or whose closed endpoints wait for acknowledgements, need more.
        std::size_t of_source = 1024;
    };
    receiver_table() noexcept : receiver_table(limits()) {}
    explicit receiver_table(const limits& with) noexcept;

    [[nodiscard]] receiver* find(std::uint64_t id) noexcept {
        auto* const found = by_id_.find(id);
        return found == nullptr ? nullptr : found->get();
    }
    // The one of that connection of that interface.
    [[nodiscard]] receiver* find(const wire::address& from, std::uint64_t connection) noexcept;
    // Says whether a connection from `source` may be added, and the receiver that the caller has to
    // remove first, if there is one. The caller must tell its sender unless it is forgettable.
    struct admission {
        bool admitted = false;
        receiver* displaced = nullptr;
    };
    [[nodiscard]] admission admit(const datagram_source& source) noexcept;
    // A new one, which must have been admitted and be of a connection without a receiver. Returns
    // nullptr without memory.
    receiver* add(std::shared_ptr<peer> from, const wire::hello& by, psn expected,
                  const datagram_source& source) noexcept;
    void remove(receiver& gone) noexcept;

    // So many seconds have passed since the last sweep. What was silent for twice as long as its
    // sender is patient is handed to `visit`, which may remove it.
    template<class Visit>
    void sweep(double seconds, Visit&& visit) {
        by_id_.for_each([&](std::uint64_t, std::unique_ptr<receiver>& each) {
            each->silent_ = std::exchange(each->heard, false) ? 0 : each->silent_ + seconds;
            if (each->silent_ > 2.0 * each->patience_) visit(*each);
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

    // Packets that are kept in the windows of all receivers hold buffers that the device needs. Up
    // to `most` of them may be held, and one source gets at most as many as are left by all: this
    // is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking, 1998).
    // However much a source holds, some are left for the others.
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
    // The sender chooses both, so the hash has a secret key.
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
