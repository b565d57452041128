// Listeners in the object tree.
#include "ucp/cm/listener.hpp"

#include "ucp/cm/manager.hpp"

namespace ucp::cm {

void listener::describe(ucs::vfs::directory& into) const {
    into.file("address", [this] { return sockets_.address.text(); });
    into.file("doors", [this] {
        return !sockets_.rdma ? "tcp" : std::string(sockets_.socket ? "tcp " : "") + "rdmacm";
    });
    into.file("accepted", [this] { return std::to_string(acceptor_.accepted()); });
    into.file("silent", [this] { return std::to_string(acceptor_.size()); });
    into.file("waiting", [this] { return std::to_string(offers_.size()); });
    into.file("told", [this] { return std::to_string(offered_); });
}

void manager::describe_listeners(ucs::vfs::directory& into) const {
    for (const auto& each : listeners_)
        into.folder(ucs::vfs::file_name(each->address().text()), *each);
}

}  // namespace ucp::cm
