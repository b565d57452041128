// The receiving side of connections, without any device.
#pragma once

#include <unordered_map>
#include <vector>

#include "ucs/datastruct/id_table.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/ib/ud/base/assembly.hpp"
#include "uct/ib/ud/base/peer.hpp"
#include "uct/ib/ud/base/receive_window.hpp"

namespace uct::ib {
struct receive_buffer;
}

namespace uct::ud {

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
          patience_(by.patience) {}

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

    receive_window<kept_packet> window;
    assembly parts;

    // Packets since the last acknowledgement, and whether it is wanted now.
    std::uint32_t unacknowledged = 0;
    bool wanted = false;
    bool heard = true;  // since the last sweep
    ucs::datastruct::auto_unlink_hook owed_hook;

private:
    friend class receiver_table;
    const std::shared_ptr<peer> from_;
    const std::uint64_t source_;
    const std::uint32_t patience_;  // seconds
    const std::uint64_t number_ = next_connection_number();
    std::uint64_t id_ = 0;
    std::uint32_t resync_ = 0;
    double silent_ = 0;  // seconds, in whole sweeps
};

// Receivers by their own id, and by who asked for them. Owner context.
class receiver_table {
public:
    [[nodiscard]] receiver* find(std::uint64_t id) noexcept {
        auto* const found = by_id_.find(id);
        return found == nullptr ? nullptr : found->get();
    }
    // The one of that connection of that interface.
    [[nodiscard]] receiver* find(std::uint64_t iface_id, std::uint64_t connection) noexcept;
    // A new one, of whose kind there is none; nullptr: no memory.
    receiver* add(std::shared_ptr<peer> from, const wire::hello& by, psn expected) noexcept;
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

private:
    struct key {
        std::uint64_t iface_id;
        std::uint64_t connection;
        friend bool operator==(const key&, const key&) = default;
    };
    struct hash {
        // Both are random.
        std::size_t operator()(const key& of) const noexcept { return of.iface_id ^ of.connection; }
    };
    ucs::datastruct::secret_id_table<std::unique_ptr<receiver>> by_id_;
    std::unordered_map<key, receiver*, hash> by_source_;
};

}  // namespace uct::ud
