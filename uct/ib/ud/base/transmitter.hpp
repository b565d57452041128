// Posts datagrams to the device, and keeps them until the device is done with them.
#pragma once

#include "ucs/memory/mpool.hpp"
#include "uct/ib/base/credits.hpp"
#include "uct/ib/base/memory/registered_chunks.hpp"
#include "uct/ib/ud/base/packet.hpp"
#include "uct/ib/ud/base/peer.hpp"
#include "uct/ib/ud/base/queue_pair.hpp"

namespace uct::ud {

// The send queue with its credits, and the memory that it sends from. Owned by the interface; owner
// context.
class transmitter : public ib::descriptor_pools<bounce, direct> {
public:
    // `payload`: bytes of the longest datagram after its header.
    transmitter(ib::domain& on, queue_pair pair, const settings& options, std::size_t payload);
    ~transmitter();
    transmitter(const transmitter&) = delete;
    transmitter& operator=(const transmitter&) = delete;

    [[nodiscard]] queue_pair& pair() noexcept { return pair_; }
    [[nodiscard]] const ib::send_credits& credits() const noexcept { return credits_; }
    [[nodiscard]] bool has_room() const noexcept { return credits_.any() && !stopped_; }
    // Destroys the queue pair, so that the device releases all memory. Idempotent.
    void stop() noexcept;
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

    // Frees a packet that the device never saw, or is done with.
    static void put_back(packet& unused) noexcept;

    // Returns true if the device may still read the packet.
    [[nodiscard]] bool reads(packet& pkt) noexcept {
        if (stopped_) return false;
        if (pkt.at_device) pkt.at_device = !credits_.is_complete(pkt.request);
        return pkt.at_device;
    }
    // Sends the packet; has_room must hold. If the device does not accept it, it counts as lost in
    // the network.
    void post(packet& pkt, const peer& to, bool signaled) noexcept;
    // Frees the packet as soon as the device is done with it.
    void retire(packet& done) noexcept;
    // The work request of that number and all before it have completed.
    void completed(std::uint32_t number) noexcept;
    // Packets from the program's memory that have ended. The caller removes them and puts them
    // back.
    [[nodiscard]] packet_list& ended() noexcept { return ended_; }

    [[nodiscard]] std::uint64_t posted() const noexcept { return posted_; }

private:
    void release(packet& done) noexcept;

    queue_pair pair_;
    ib::send_credits credits_;
    packet_list retired_;
    packet_list ended_;
    std::uint64_t posted_ = 0;
    bool complained_ = false;
    bool stopped_ = false;
};

}  // namespace uct::ud
