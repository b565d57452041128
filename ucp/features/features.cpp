// Puts workers, peers and endpoints together with the slots of all features, and delivers events.
#include <array>
#include <concepts>
#include <type_traits>
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

template<class Event>
void publish(const Event& event) {
    features::deliver(event, features::all{});
}

namespace features {

// The object that holds a slot of this type.
template<class Slot>
using holder_of =
    std::conditional_t<std::constructible_from<Slot, worker&>, worker,
                       std::conditional_t<std::constructible_from<Slot, peer&>, peer, ep>>;

// Refers to the functions above for each slot and each event of the lists, so that this file
// defines them for all others. Nothing calls it, so link-time optimisation removes it.
template<class... Slot, class... Event>
auto definitions(list<Slot...>, list<Event...>) {
    using any_function = void (*)();
    return std::array{
        reinterpret_cast<any_function>(
            static_cast<Slot& (*)(const holder_of<Slot>&) noexcept>(slot_of<Slot>))...,
        reinterpret_cast<any_function>(publish<Event>)...};
}
template auto definitions(slots, published);

}  // namespace features

}  // namespace ucp
