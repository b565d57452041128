// An endpoint's folder in the object tree. It shows the information of ucp_ep_print_info in
// separate files.
#include "ucp/core/ep.hpp"

#include <fmt/format.h>

#include "ucp/core/worker.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"

namespace ucp {

namespace {

void describe_lanes(ucs::vfs::directory& into, const peer& remote) {
    for (const wireup::lane_in_use& lane : wireup::lanes_in_use(remote)) {
        into.folder(std::to_string(lane.index), [lane](ucs::vfs::directory& folder) {
            folder.file("transport", [lane] { return std::string(lane.where->transport); });
            folder.file("device", [lane] { return std::string(lane.where->device); });
            folder.file("role", [lane] { return std::string(lane.role); });
            lane.endpoint->describe(folder);
        });
    }
}

}  // namespace

void ep::describe(ucs::vfs::directory& into) const {
    into.file("memory_address", [this] { return fmt::format("{}", fmt::ptr(this)); });
    into.file("peer_name", [this] { return remote_->identity().worker_name(); });
    into.file("peer_uid", [this] { return fmt::format("{:x}", remote_->uid()); });
    into.file("state", [this] { return std::string(wireup::name(wireup::state_of(*this))); });
    into.file("failure", [this] { return std::string(ucs_status_string(failure_)); });
    into.file("error_mode",
              [this] { return std::string(program_.handles_errors() ? "peer" : "none"); });
    into.file("pending_sends", [this] { return std::to_string(operations_.sends().size()); });
    into.file("pending_receives", [this] { return std::to_string(operations_.receives().size()); });
    into.file("pending_flushes", [this] { return std::to_string(operations_.flushes().size()); });
    if (const stream_channel* const opened = opened_stream_of(*this))
        into.folder("stream", *opened);
    into.folder("lane", [this](ucs::vfs::directory& lanes) { describe_lanes(lanes, *remote_); });
    into.file("lanes", [this] { return wireup::explain_lanes(*remote_); });
    into.file("transports", [this] { return wireup::explain_transports(*remote_); });
    into.file("protocols", [this] { return wireup::explain_protocols(*remote_); });
    into.file("info", [this] { return wireup::explain(*this); });
}

}  // namespace ucp
