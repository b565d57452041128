#include "ucp/core/worker_view.hpp"

namespace ucp {

void worker_view::describe_worker(ucs::vfs::directory& into) const {
    into.file("address_name", [this] { return name; });
    into.file("thread_mode", [this] {
        static constexpr const char* names[] = {"single", "serialized", "multi"};
        return std::string(names[thread_mode]);
    });
    into.file("owner", [this] { return queries.owner_text(); });
    into.folder("counters", [this](ucs::vfs::directory& list) { counters.describe(list); });
}

void worker_view::describe(ucs::vfs::directory& into) const {
    into.link("iface", "../../../" + path + "/iface");
}

}  // namespace ucp
