// Limits how many connections peers keep open that serve no endpoint on this side.
#pragma once

#include "ucs/log/throttle.hpp"
#include "ucs/net/admission.hpp"

namespace uct::tcp {

class connection;

// The connections of one interface to which no endpoint is attached: those that were accepted, and
// those that have lost their endpoints and are to be closed. A peer of the job can make any number
// of interfaces up and connect in the name of each, so each host has a quota. Where there are more,
// the oldest connection of this host ends that has sent nothing, or the oldest. As soon as
// descriptors are scarce, each further one ends the oldest one that has sent nothing, as long as
// there are more than one for 32 descriptors of the limit. Owner context.
class unused_connections {
public:
    // The place of one connection; empty while an endpoint is attached.
    class place final : public ucs::net::admission::candidate {
    public:
        explicit place(connection& of) noexcept : connection_(of) {}

    private:
        friend class unused_connections;
        connection& connection_;
    };

    // `device` and `rejected` are for log lines.
    unused_connections(const std::string& device, ucs::log::throttle& rejected) noexcept;

    // No endpoint is attached to the connection with this socket. Ends another one if there are too
    // many. Does nothing if it was added before.
    void add(place& fresh, int socket) noexcept;
    // An endpoint was attached, or the connection has ended.
    void remove(place& which) noexcept { places_.remove(which); }

private:
    // Returns whether the connection has sent nothing; else it is preferred from now on.
    [[nodiscard]] bool is_silent(place& which) noexcept;
    void end(place& surplus) noexcept;

    const std::string& device_;
    ucs::log::throttle& rejected_;
    ucs::net::admission places_;
    bool has_reported_ = false;
};

}  // namespace uct::tcp
