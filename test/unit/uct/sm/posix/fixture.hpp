// Test fixture: interfaces of the posix transport.
#pragma once

#include "test/support/uct_side.hpp"
#include "ucs/security/key.hpp"
#include "uct/base/builtin.hpp"
#include "uct/sm/base/address.hpp"

namespace uct::posix::test {

// An interface of the posix transport. Its peers wake it if it sleeps.
class node : public ::test::uct_side {
public:
    explicit node(const ucs::config::source& settings = ucs::config::source::empty(),
                  bool sleeps = false)
        : uct_side(posix_component(), {"posix", "memory", device_type::shared_memory}, settings,
                   {.worker_uid = 0x1234, .sleeps = sleeps}) {}
    void close() { iface.reset(); }
};

// am_short with a header and text.
inline ucs_status_t send(ep& to, am_id id, std::uint64_t header, const std::string& text) {
    return to.am_short(id, header, text.data(), text.size());
}

// am_bcopy of text.
inline ssize_t send_packed(ep& to, am_id id, const std::string& text) {
    return to.am_bcopy(
        id,
        [](void* arg, void* into, std::size_t capacity) {
            const auto& from = *static_cast<const std::string*>(arg);
            REQUIRE(from.size() <= capacity);
            std::memcpy(into, from.data(), from.size());
            return from.size();
        },
        const_cast<std::string*>(&text));
}

// Progresses all nodes until a condition holds. Returns false after very many turns.
inline bool until(std::initializer_list<node*> all, const std::function<bool()>& holds) {
    for (int turn = 0; turn < 1'000'000 && !holds(); ++turn) {
        for (node* each : all)
            each->progress();
    }
    return holds();
}

// The secret in a node's address.
inline ucs::security::worker_secret secret_of(const node& which) {
    return ucs::security::worker_secret::from_bytes(
        sm::parse_posix_address(which.address())->secret);
}

inline std::string with_header(std::uint64_t header, const std::string& text) {
    std::string whole(reinterpret_cast<const char*>(&header), sizeof header);
    whole += text;
    return whole;
}

}  // namespace uct::posix::test
