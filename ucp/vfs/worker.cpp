// A worker's folder in the object tree, filled by the worker itself.
#include "ucp/core/worker.hpp"

#include <fmt/format.h>

#include <charconv>

#include "ucp/am/receiver.hpp"
#include "ucp/cm/manager.hpp"
#include "ucp/core/events.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/vfs/text.hpp"
#include "ucp/wireup/explain.hpp"

namespace ucp {

std::string worker_info(worker& shown) {
    std::string text = "#\n# UCP worker ";
    text += fmt::format("'{}'\n#\n", shown.params().name);
    text += fmt::format("#                 uid: {:x}\n", shown.uid());
    text +=
        fmt::format("#             address: {} bytes, {} bytes for other hosts\n",
                    shown.identity().address(false).size(), shown.identity().address(true).size());
    text += fmt::format("#           endpoints: {}\n", shown.endpoints().size());
    const auto& resources = shown.owner().resources();
    for (std::size_t i = 0; i < resources.size(); ++i) {
        const uct::resource& where = resources[i].where;
        text += fmt::format("#    interface {:<2}    : {}/{}{}\n", i, where.transport, where.device,
                            shown.interfaces().at(i) == nullptr
                                ? ", left out: " + shown.interfaces().why_not_opened(i)
                                : "");
    }
    std::string details;
    publish(events::worker_described{shown, text, details});
    text += fmt::format("#      sends deferred: {}\n", deferred_count(shown.peers()));
    text += fmt::format("#     answers waiting: {} bytes\n", shown.limits().waiting().used());
    text += fmt::format("#   messages rejected: {}\n", shown.log().rejected().count());
    text += details;
    shown.endpoints().for_each([&text](const ep& each) { text += wireup::line_of(each); });
    text += "#\n";
    return text;
}

void worker::describe(ucs::vfs::directory& into) const {
    auto& eps = const_cast<worker*>(this)->endpoints_;
    into.file("memory_address", [this] { return fmt::format("{}", fmt::ptr(this)); });
    into.file("info", [this] { return worker_info(const_cast<worker&>(*this)); });
    into.file("num_all_eps", [&eps] { return std::to_string(eps.size()); });
    into.file("expected",
              [this] { return std::to_string(slot_of<tag_matcher>(*this).expected_count()); });
    into.file("unexpected",
              [this] { return std::to_string(slot_of<tag_matcher>(*this).unexpected_count()); });
    into.file("unexpected_bytes",
              [this] { return std::to_string(slot_of<tag_matcher>(*this).memory().stored()); });
    into.file("announced",
              [this] { return std::to_string(slot_of<tag_matcher>(*this).memory().rts_count()); });
    into.file("announced_bytes",
              [this] { return std::to_string(slot_of<tag_matcher>(*this).memory().rts_bytes()); });
    into.file("deferred", [this] { return std::to_string(deferred_count(peers_)); });
    into.file("rejected", [this] { return std::to_string(log_.rejected().count()); });
    into.file("requests", [this] { return std::to_string(requests_.in_use()); });
    into.folder("am", slot_of<am_receiver>(*this));
    into.folder("keepalive", [this](ucs::vfs::directory& list) {
        list.file("ep_count", [this] { return std::to_string(keepalive_.asked()); });
        list.file("round_count", [this] { return std::to_string(keepalive_.rounds()); });
    });
    into.folder("listener", [this](ucs::vfs::directory& list) {
        if (const cm::manager* const made = slot_of<cm::connections>(*this).manager.get())
            made->describe_listeners(list);
    });
    const auto add = [](ucs::vfs::directory& list, const ep& each) {
        list.folder(fmt::format("{:x}", each.id()), each);
    };
    into.folder(
        "ep",
        [&eps, add](ucs::vfs::directory& list) {
            eps.for_each([&](const ep& each) { add(list, each); });
        },
        [&eps, add](std::string_view name, ucs::vfs::directory& list) {
            std::uint64_t id = 0;
            const char* const end = name.data() + name.size();
            if (std::from_chars(name.data(), end, id, 16).ptr != end) return;
            if (const ep* found = eps.find(id)) add(list, *found);
        });
    into.folder("iface", [this](ucs::vfs::directory& list) {
        const auto& resources = context_.resources();
        for (std::size_t i = 0; i < interfaces_.size(); ++i) {
            if (interfaces_.at(i) == nullptr) continue;
            const uct::resource& where = resources[i].where;
            list.folder(ucs::vfs::file_name(where.transport + "_" + where.device),
                        *interfaces_.at(i));
        }
    });
}

}  // namespace ucp
