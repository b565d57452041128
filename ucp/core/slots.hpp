// Slots: the state that a feature keeps in each worker, peer and endpoint.
#pragma once

namespace ucp {

class ep;
class peer;
class worker;

// Returns the slot of this type. A feature declares its slots; ucp/features places them behind the
// object and defines these functions. The core therefore names no feature. After link-time
// optimisation a call is the addition of a constant.
template<class Slot>
[[nodiscard, gnu::const]] Slot& slot_of(const worker& holder) noexcept;
template<class Slot>
[[nodiscard, gnu::const]] Slot& slot_of(const peer& holder) noexcept;
template<class Slot>
[[nodiscard, gnu::const]] Slot& slot_of(const ep& holder) noexcept;

}  // namespace ucp
