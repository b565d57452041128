// Limits the endpoints and lanes that requests of peers make a worker keep although its program has
// not asked for them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

struct uninvited_limits {
    // Endpoints of one peer. Well-behaved programs have a few endpoints to a worker.
    std::size_t most_of_one = 4096;
    // Endpoints and lanes of all peers.
    std::size_t most = most_of_one;
    // Peers whose lanes keep a descriptor, as soon as descriptors are scarce.
    std::size_t most_if_scarce = 16;

    // Returns how many fit into `memory` bytes: a peer with one endpoint takes about 16 KiB with
    // its lanes.
    [[nodiscard]] static constexpr std::size_t most_in(std::uint64_t memory) noexcept {
        constexpr std::uint64_t bytes_of_one = 16 * 1024;
        return std::max<std::size_t>(uninvited_limits{}.most_of_one, memory / bytes_of_one);
    }
    // The limits for this process, by its memory and its descriptors.
    [[nodiscard]] static uninvited_limits of_process() noexcept;
};

// Counts the endpoints and lanes that peers have made here and the program has not asked for, and
// selects the peer that has to give one up when a limit is reached:
//   1. A peer with most endpoints, within a factor of two, if it has more than 63: it could push
//      out many others by as many endpoints of its own.
//   2. Otherwise a peer that has sent nothing since its first request; of several the oldest.
//   3. Otherwise a peer with most endpoints, within a factor of two, if it has more than three.
//   4. Otherwise a peer that has sent nothing since the last check of it; of several the one whose
//      last check is longest ago.
// At most 64 peers are checked for whether they have sent something, and only when a limit is
// reached: nothing is done per message. The work does not grow with the number of peers. Owner
// context.
class uninvited_peers {
public:
    // The part of one peer. It must be destroyed before the uninvited_peers that it belongs to.
    class part {
    public:
        explicit part(uninvited_peers& all) noexcept : all_(all) {}
        ~part() { all_.leave(*this); }
        part(const part&) = delete;
        part& operator=(const part&) = delete;

        // add: a request of the peer made an endpoint. remove: the program adopts one, or one ends.
        void add_endpoint() noexcept { change(endpoints_ + 1, is_stranger_); }
        void remove_endpoint() noexcept { change(endpoints_ - 1, is_stranger_); }
        [[nodiscard]] std::size_t endpoints() const noexcept { return endpoints_; }
        // Sets whether the peer object itself exists only because of the peer's requests.
        void set_stranger(bool is_stranger) noexcept { change(endpoints_, is_stranger); }
        [[nodiscard]] bool is_stranger() const noexcept { return is_stranger_; }
        // Returns the part's count towards the limit: a stranger counts even without an endpoint.
        [[nodiscard]] std::size_t weight() const noexcept { return weight_; }
        // Sets whether the lanes to the peer keep a descriptor.
        void set_descriptor(bool uses_descriptor) noexcept;
        // Notes how much has come from the peer until now, see uct::ep::received. Only the
        // first call counts.
        void note_received(std::uint64_t received) noexcept {
            if (received_ == 0) received_ = received;
        }

    private:
        friend class uninvited_peers;
        void change(std::size_t endpoints, bool is_stranger) noexcept;
        [[nodiscard]] std::size_t counted_descriptors() const noexcept {
            return weight_ > 0 && uses_descriptor_ ? 1 : 0;
        }

        uninvited_peers& all_;
        ucs::datastruct::auto_unlink_hook hook_;
        const void* list_ = nullptr;  // the list that the part is in
        std::size_t endpoints_ = 0;
        std::size_t weight_ = 0;
        std::uint64_t received_ = 0;
        bool is_stranger_ = false;
        bool uses_descriptor_ = false;
        bool has_sent_ = false;  // sent something since its first request, or that cannot be known
    };

    explicit uninvited_peers(const uninvited_limits& limits) noexcept : limits_(limits) {}
    uninvited_peers(const uninvited_peers&) = delete;
    uninvited_peers& operator=(const uninvited_peers&) = delete;

    [[nodiscard]] const uninvited_limits& limits() const noexcept { return limits_; }
    void set_limits(const uninvited_limits& limits) noexcept { limits_ = limits; }

    // Number of endpoints and of peers without an endpoint.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool is_full() const noexcept { return size_ >= limits_.most; }
    [[nodiscard]] bool is_full_if_scarce() const noexcept {
        return with_descriptor_ >= limits_.most_if_scarce;
    }

    // Returns the part whose peer has to give something up, or nullptr if there is none.
    // `only_with_descriptor`: considers peers whose lanes keep a descriptor only. `received`
    // returns the amount that has come from the peer of a part, or 0 if that cannot be known.
    template<class Received>
    [[nodiscard]] part* least(bool only_with_descriptor, const Received& received) noexcept {
        list* most = list_of_most(only_with_descriptor);
        if (most != nullptr && most->front().weight_ >= yields_before_silent) return &most->front();
        unsigned looks = most_looks;
        for (const std::size_t kind : {kind_with_descriptor, kind_without}) {
            if (only_with_descriptor && kind == kind_without) continue;
            if (part* const found = oldest_silent(silent_[kind], looks, received)) return found;
        }
        most = list_of_most(only_with_descriptor);
        if (most == nullptr) return nullptr;
        const bool have_few = most->front().weight_ < yields_after_silent;
        for (; have_few && looks > 0; --looks) {
            part& first = most->front();
            if (!has_sent_since_last_look(first, received(first))) return &first;
            most->splice(most->end(), *most, most->begin());
        }
        return &most->front();
    }

private:
    using list = ucs::datastruct::auto_list<part, &part::hook_>;
    static constexpr unsigned most_looks = 64;
    // A peer with so many endpoints gives one up if no peer is silent, and before silent peers.
    static constexpr std::size_t yields_after_silent = 4;
    static constexpr std::size_t yields_before_silent = 64;
    static constexpr std::size_t kind_without = 0;
    static constexpr std::size_t kind_with_descriptor = 1;
    // Lists of peers that have 1 to 3, 4 to 7, 8 to 15, ... endpoints.
    static constexpr std::size_t weight_classes = 32;
    [[nodiscard]] static std::size_t weight_class(std::size_t weight) noexcept {
        return std::min<std::size_t>(std::bit_width(weight / 4), weight_classes - 1);
    }

    // Returns whether something came from the peer since the last look, as far as it can be known.
    static bool has_sent_since_last_look(part& looked_at, std::uint64_t received) noexcept {
        const bool has_sent = received != 0 && received != looked_at.received_;
        looked_at.received_ = received;
        return has_sent;
    }
    template<class Received>
    part* oldest_silent(list& from, unsigned& looks, const Received& received) noexcept {
        for (; looks > 0 && !from.empty(); --looks) {
            part& first = from.front();
            const std::uint64_t now = received(first);
            if (!has_sent_since_last_look(first, now) && now != 0) return &first;
            first.has_sent_ = true;
            file(first);
        }
        return nullptr;
    }
    [[nodiscard]] list* list_of_most(bool only_with_descriptor) noexcept;
    void file(part& changed) noexcept;
    void leave(part& changed) noexcept;

    uninvited_limits limits_;
    std::size_t size_ = 0;
    std::size_t with_descriptor_ = 0;
    // Lists for peers without and with a descriptor, the oldest peer first. Peers with many
    // endpoints are never among the silent ones.
    std::array<list, 2> silent_;
    std::array<std::array<list, weight_classes>, 2> by_weight_;
};

}  // namespace ucp
