// Limit of the connections that peers keep open and that serve no endpoint on this side.
#pragma once

#include "ucs/log/throttle.hpp"
#include "ucs/net/admission.hpp"

namespace uct::tcp {

class connection;

// The connections of one interface to which no endpoint is attached: accepted ones, and ones that
// have lost their endpoints and wait to be closed. A peer of the job can invent any number of
// interfaces and connect in the name of each, so each host has a quota. When a host exceeds it, its
// oldest connection that has sent nothing ends, or its oldest one if all have sent something. While
// descriptors are scarce, each further connection ends the oldest one that has sent nothing, as
// long as there are more than one for 32 descriptors of the limit. Owner context.
class unused_connections {
public:
    // The entry of one connection. Not added while an endpoint is attached.
    class entry final : public ucs::net::admission::candidate {
    public:
        explicit entry(connection& link) noexcept : connection_(link) {}

    private:
        friend class unused_connections;
        connection& connection_;
    };

    // `device` and `rejected` are for log lines.
    unused_connections(const std::string& device, ucs::log::throttle& rejected) noexcept;

    // Adds a connection to which no endpoint is attached. Ends another one if there are too many.
    // Without effect if it was added before.
    void add(entry& fresh, int socket) noexcept;
    // Removes a connection, because an endpoint was attached or it has ended.
    void remove(entry& ended) noexcept { places_.remove(ended); }

private:
    // Returns true if the peer has sent nothing over the connection. Otherwise prefers it from now
    // on.
    [[nodiscard]] bool is_silent(entry& candidate) noexcept;
    void end(entry& surplus) noexcept;

    const std::string& device_;
    ucs::log::throttle& rejected_;
    ucs::net::admission places_;
    bool has_reported_ = false;
};

}  // namespace uct::tcp
