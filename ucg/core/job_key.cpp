#include "ucg/core/job_key.hpp"

#include <algorithm>
#include <cstring>

#include "ucs/security/key.hpp"

namespace ucg {
namespace {

using ucs::security::key;

// Returns whether the offer contains a key whose bytes match its id. Only in a private exchange do
// offers contain the bytes.
bool is_given(const key_offer& offer) noexcept {
    const bool has_bytes =
        std::ranges::any_of(offer.key, [](std::byte each) { return each != std::byte{0}; });
    return offer.id != 0 && has_bytes && random_job_key(offer.key).id() == offer.id;
}

bool is(const key_offer& offer, key_origin wanted) noexcept {
    return offer.origin == static_cast<std::uint32_t>(wanted);
}

}  // namespace

random_job_key random_job_key::make() noexcept {
    const key fresh = key::random();
    bytes made;
    std::ranges::copy(fresh.data(), made.begin());
    const random_job_key wrapped(made);
    ucs::security::erase(made);
    return wrapped;
}

random_job_key::~random_job_key() {
    ucs::security::erase(bytes_);
}

std::uint64_t random_job_key::id() const noexcept {
    const key whole = key::from_text({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
    const key name = key::derive(whole, "ucg job key id");
    std::uint64_t made = 0;
    std::memcpy(&made, name.data().data(), sizeof made);
    return made | 1;
}

std::string random_job_key::text() const {
    return ucs::security::hex_text(bytes_);
}

key_agreement agree_on_key(std::span<const key_offer> offers) noexcept {
    key_agreement made;
    const auto has_random = [](const key_offer& each) { return is(each, key_origin::random); };
    const auto is_open = [](const key_offer& each) { return is(each, key_origin::open); };
    made.insists =
        std::ranges::any_of(offers, [](const key_offer& each) { return each.insists == 1; });
    const auto holder = std::ranges::find_if(offers, has_random);
    const auto index_of = [&](auto found) {
        return static_cast<std::size_t>(found - offers.begin());
    };
    // If a rank has a random key already, all ranks that have decided must have the same one.
    if (holder != offers.end()) {
        const auto other = std::ranges::find_if(offers, [&](const key_offer& each) {
            return !is_open(each) && (!has_random(each) || each.id != holder->id);
        });
        made.result = other == offers.end() ? key_agreement::outcome::random
                                            : key_agreement::outcome::differs;
        if (other != offers.end()) made.member = index_of(other);
        // Ranks without a worker take over the key, if the holder's offer contains its bytes.
        const auto newcomer = std::ranges::find_if(offers, is_open);
        if (made.result == key_agreement::outcome::differs || newcomer == offers.end()) return made;
        if (is_given(*holder)) {
            made.key.emplace(holder->key);
        } else {
            made.result = key_agreement::outcome::differs;
            made.member = index_of(newcomer);
        }
        return made;
    }
    // No rank has a random key. If no rank has decided either, all take the first key that an
    // offer contains.
    if (!std::ranges::all_of(offers, is_open)) return made;
    const auto proposal = std::ranges::find_if(offers, is_given);
    if (proposal == offers.end()) return made;
    made.result = key_agreement::outcome::random;
    made.key.emplace(proposal->key);
    return made;
}

}  // namespace ucg
