// Puts workers, peers and endpoints together with the slots of all features, and delivers events.
#include <concepts>
#include <utility>

#include "ucp/core/worker.hpp"
#include "ucp/features/list.hpp"

namespace ucp {

namespace features {

namespace {

// The next slot may lie in the padding at the end of this one, so a slot is never overwritten as a
// whole.
template<class Core, class Slot>
struct part {
    explicit part(Core& holder) : slot(holder) {}
    [[no_unique_address]] Slot slot;
};

// A slot of another kind of object takes no room.
template<class Core, class Slot>
requires(!std::constructible_from<Slot, Core&>) struct part<Core, Slot> {
    explicit part(Core&) noexcept {}
};

template<class Core, class Slots>
struct whole;

// The slots are made after the core, and are destroyed before it; `end` still finds them.
template<class Core, class... Slot>
struct whole<Core, list<Slot...>> final : Core, part<Core, Slot>... {
    template<class... Arg>
    explicit whole(Arg&&... arg)
        : Core(std::forward<Arg>(arg)...), part<Core, Slot>(static_cast<Core&>(*this))... {}
    ~whole() override { Core::end(); }
};

template<class Slot, class Core>
Slot& find(const Core& holder) noexcept {
    auto& object = static_cast<whole<Core, slots>&>(const_cast<Core&>(holder));
    return static_cast<part<Core, Slot>&>(object).slot;
}

template<class Event, class... Feature>
void deliver(const Event& event, list<Feature...>) {
    const auto one = [&event]<class F>(std::type_identity<F>) {
        if constexpr (requires { F::on(event); }) F::on(event);
    };
    (one(std::type_identity<Feature>{}), ...);
}

// Kept small: thousands of endpoints are normal.
static_assert(sizeof(whole<ep, slots>) <= 384);

}  // namespace

}  // namespace features

std::unique_ptr<worker> worker::make(const context& parent, const worker_params& params,
                                     std::unique_ptr<ucs::async::event_loop> events) {
    return std::make_unique<features::whole<worker, features::slots>>(parent, params,
                                                                      std::move(events));
}

std::unique_ptr<peer> peer::make(worker& owner, const ucs::security::public_key& identity,
                                 peer_identity::source from,
                                 std::vector<std::byte> packed_address) {
    return std::make_unique<features::whole<peer, features::slots>>(owner, identity, from,
                                                                    std::move(packed_address));
}

ep& ep::make(worker& owner, peer& to, std::uint64_t number) {
    return *new features::whole<ep, features::slots>(owner, to, number);
}

template<class Slot>
Slot& slot_of(const worker& holder) noexcept {
    return features::find<Slot>(holder);
}
template<class Slot>
Slot& slot_of(const peer& holder) noexcept {
    return features::find<Slot>(holder);
}
template<class Slot>
Slot& slot_of(const ep& holder) noexcept {
    return features::find<Slot>(holder);
}

template wireup::requests& slot_of(const worker&) noexcept;
template wireup::refusals& slot_of(const worker&) noexcept;
template request_ids& slot_of(const worker&) noexcept;
template protocol_tables& slot_of(const worker&) noexcept;
template rndv_rates& slot_of(const worker&) noexcept;
template assembler& slot_of(const worker&) noexcept;
template tag_matcher& slot_of(const worker&) noexcept;
template am_receiver& slot_of(const worker&) noexcept;
template cm::connections& slot_of(const worker&) noexcept;
template wakeup::idling& slot_of(const worker&) noexcept;
template worker_streams& slot_of(const worker&) noexcept;
template striped_transfers& slot_of(const peer&) noexcept;
template eager_credits& slot_of(const peer&) noexcept;
template kept_operations& slot_of(const peer&) noexcept;
template deferred_sends& slot_of(const peer&) noexcept;
template wireup::pairing& slot_of(const peer&) noexcept;
template wireup::lane_setup& slot_of(const peer&) noexcept;
template peer_arriving& slot_of(const peer&) noexcept;
template peer_unread& slot_of(const peer&) noexcept;
template partial_messages& slot_of(const ep&) noexcept;
template unexpected_rts_messages& slot_of(const ep&) noexcept;
template ep_stream& slot_of(const ep&) noexcept;
template access_order& slot_of(const ep&) noexcept;
template owed_replies& slot_of(const ep&) noexcept;
template short_path& slot_of(const ep&) noexcept;
template wireup::ep_connection& slot_of(const ep&) noexcept;

template<class Event>
void publish(const Event& event) {
    features::deliver(event, features::all{});
}

template void publish(const events::interface_opened&);
template void publish(const events::worker_opened&);
template void publish(const events::slow_progress_began&);
template void publish(const events::slow_progress_ended&);
template void publish(const events::worker_described&);
template void publish(const events::credits_sought&);
template void publish(const events::credits_requested&);
template void publish(const events::sends_deferred&);
template void publish(const events::descriptors_polled&);
template void publish(const events::everything_polled&);
template void publish(const events::lane_failed&);
template void publish(const events::peer_resumed&);
template void publish(const events::address_given&);
template void publish(const events::claim_confirmed&);
template void publish(const events::peer_probed&);
template void publish(const events::peer_failed&);
template void publish(const events::peer_lost&);
template void publish(const events::peer_ended&);
template void publish(const events::endpoint_attached&);
template void publish(const events::endpoint_detached&);
template void publish(const events::peer_unused&);
template void publish(const events::peer_destroyed&);
template void publish(const events::work_sought&);
template void publish(const events::endpoints_ended&);
template void publish(const events::worker_idle&);
template void publish(const events::limits_checked&);
template void publish(const events::ownership_changed&);
template void publish(const events::peer_changed&);
template void publish(const events::messages_lost&);
template void publish(const events::incoming_ended&);
template void publish(const events::peer_closed&);
template void publish(const events::closing_flush_began&);
template void publish(const events::closed_unread&);
template void publish(const events::operation_ended&);
template void publish(const events::message_dropped&);
template void publish(const events::endpoint_ended&);
template void publish(const events::endpoint_abandoned&);
template void publish(const events::connection_sought&);
template void publish(const events::closing_flush_ended&);
template void publish(const events::receives_lost&);
template void publish(const events::fences_checked&);
template void publish(const events::waiting_send_found&);
template void publish(const events::operation_lost&);
template void publish(const events::operations_aborted&);
template void publish(const events::confirmations_sought&);
template void publish(const events::flush_began&);
template void publish(const events::flush_checked&);
template void publish(const events::flush_ended&);

}  // namespace ucp
