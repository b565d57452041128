// A context's folder in the object tree. Contexts are immutable, so any thread may read them.
#include <fmt/format.h>

#include <algorithm>

#include "ucp/core/worker_list.hpp"
#include "ucs/vfs/tree.hpp"

namespace ucp {

void context::attach(const std::shared_ptr<worker_view>& shown) const {
    const std::string wanted = ucs::vfs::file_name(shown->name);
    std::string name = wanted;
    {
        const std::lock_guard guard(workers_->lock);
        const auto taken = [&] {
            return std::any_of(workers_->live.begin(), workers_->live.end(),
                               [&](const worker_list::shown& each) { return each.name == name; });
        };
        for (unsigned number = 2; taken(); ++number)
            name = fmt::format("{}~{}", wanted, number);
        shown->path = fmt::format("{}/worker/{}", path_, name);
        workers_->live.push_back({name, shown});
    }
    ucs::vfs::add_root("uct/worker/" + name, *shown);
}

void context::detach(const std::shared_ptr<worker_view>& shown) const {
    ucs::vfs::remove_root(*shown);
    const std::lock_guard guard(workers_->lock);
    std::erase_if(workers_->live,
                  [&](const worker_list::shown& each) { return each.view == shown; });
}

void context::describe(ucs::vfs::directory& into) const {
    into.file("memory_address", [this] { return fmt::format("{}", fmt::ptr(this)); });
    into.file("info", [this] { return info(); });
    into.file("transports", [this] {
        std::string text;
        for (const usable_resource& each : resources_)
            text += fmt::format("{}/{}: usable\n", each.where.transport, each.where.device);
        for (const refused_resource& each : refused_)
            text += fmt::format("{}/{}: not used, {}\n", each.transport, each.device, each.reason);
        return text;
    });
    into.folder("worker", [this](ucs::vfs::directory& list) {
        const std::lock_guard guard(workers_->lock);
        for (const worker_list::shown& each : workers_->live) {
            // A reader may keep the view longer than the list does.
            list.folder(
                each.name,
                [view = each.view](ucs::vfs::directory& folder) { view->describe_worker(folder); },
                std::shared_ptr<ucs::vfs::mailbox>(each.view, &each.view->queries));
        }
    });
}

}  // namespace ucp
