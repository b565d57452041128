#include "uct/ib/ud/base/receiver.hpp"

namespace uct::ud {

receiver* receiver_table::find(std::uint64_t iface_id, std::uint64_t connection) noexcept {
    const auto at = by_source_.find({iface_id, connection});
    return at == by_source_.end() ? nullptr : at->second;
}

receiver* receiver_table::add(std::shared_ptr<peer> from, const wire::hello& by,
                              psn expected) noexcept {
    try {
        auto made = std::make_unique<receiver>(std::move(from), by, expected);
        receiver& fresh = *made;
        const key who{by.from.port.iface_id, by.connection};
        by_source_.emplace(who, &fresh);
        if (const std::uint64_t id = by_id_.add(std::move(made)); id != 0) {
            fresh.id_ = id;
            return &fresh;
        }
        by_source_.erase(who);
    } catch (const std::bad_alloc&) {
    }
    return nullptr;
}

void receiver_table::remove(receiver& gone) noexcept {
    if (gone.from().owed == &gone) gone.from().owed = nullptr;
    by_source_.erase({gone.from().where.port.iface_id, gone.source()});
    by_id_.remove(gone.id());
}

}  // namespace uct::ud
