// Connections without an endpoint whose peers have not acknowledged everything.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "uct/ib/ud/base/connection.hpp"

namespace uct::ud {

// Owns these connections. Ended connections are listed when they end, so that progress visits no
// others. Owner context.
class lingering_connections {
public:
    // Reserves memory for one connection more than `count`, so that `add` cannot fail. May throw
    // std::bad_alloc.
    void reserve(std::size_t count) {
        if (all_.capacity() <= count) all_.reserve(2 * count + 1);
    }
    void add(std::unique_ptr<connection> left) noexcept {
        left->lingering_index = all_.size();
        all_.push_back(std::move(left));
        note(*all_.back());
    }
    // To be called after anything has changed in the protocol of a connection, lingering or not.
    void note(connection& conn) noexcept {
        const bool lingers = conn.lingering_index != connection::not_lingering;
        if (lingers && conn.protocol.is_ended() && !conn.ended_hook.is_linked())
            ended_.push_back(conn);
    }
    // Destroys the connections that have ended. `before` is called with each of them.
    template<class Visit>
    void remove_ended(Visit&& before) noexcept {
        while (!ended_.empty()) {
            connection& gone = ended_.front();
            before(gone);
            all_.back()->lingering_index = gone.lingering_index;
            std::swap(all_[gone.lingering_index], all_.back());
            all_.pop_back();
        }
    }
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& each : all_)
            visit(*each);
    }
    [[nodiscard]] bool have_ended() const noexcept { return !ended_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    void clear() noexcept { all_.clear(); }

private:
    std::vector<std::unique_ptr<connection>> all_;
    ucs::datastruct::auto_list<connection, &connection::ended_hook> ended_;
};

}  // namespace uct::ud
