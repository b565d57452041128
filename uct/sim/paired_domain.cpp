#include "uct/sim/paired_domain.hpp"

#include "ucs/wire/codec.hpp"
#include "uct/base/base_iface.hpp"

namespace uct::sim {

namespace {

// The packed key that `share` returns for peers.
struct packed_key {
    std::uint64_t base;
    std::uint64_t length;
    std::uint32_t key;
    std::uint8_t version;
    std::uint8_t access;
    std::uint16_t pad;
};
static_assert(sizeof(packed_key) == 24 && std::has_unique_object_representations_v<packed_key>);
constexpr std::uint8_t key_version = 1;

// Memory that is shared for changes can be read, too, for example by atomic operations.
peer_rights shared_rights(memory_access allowed) noexcept {
    return {true, allowed == memory_access::change};
}

// Peers can access the memory as long as this object exists.
class kept_region {
public:
    kept_region(std::shared_ptr<regions> in, std::uint32_t key, bool for_ever) noexcept
        : in_(std::move(in)), key_(key), for_ever_(for_ever) {}
    ~kept_region() {
        if (!for_ever_) in_->remove(key_);
    }
    kept_region(const kept_region&) = delete;
    kept_region& operator=(const kept_region&) = delete;

private:
    const std::shared_ptr<regions> in_;
    const std::uint32_t key_;
    const bool for_ever_;
};

}  // namespace

paired_domain::paired_domain(fabric& network)
    : fabric_(network), known_(std::make_shared<regions>()) {}

ucs::result<shared_memory> paired_domain::share(std::span<std::byte> bytes, memory_access allowed) {
    return add(bytes, allowed, shared_rights(allowed), fabric_.network().paired.keeps_registered);
}

// One operation reads or writes, and does not do both.
ucs::result<shared_memory> paired_domain::expose(std::span<std::byte> bytes,
                                                 memory_access allowed) {
    const bool is_read = allowed == memory_access::read;
    return add(bytes, allowed, {is_read, !is_read}, fabric_.network().paired.keeps_registered);
}

ucs::result<shared_memory> paired_domain::add(std::span<std::byte> bytes, memory_access allowed,
                                              peer_rights rights, bool for_ever) {
    if (fabric_.refuses_memory()) {
        ucs::log::error(uct_log, "simrc: {} bytes cannot be registered: the limit is reached",
                        bytes.size());
        return UCS_ERR_NO_MEMORY;
    }
    std::uint32_t key = 0;
    do {
        key = static_cast<std::uint32_t>(fabric_.dice().next());
    } while (!known_->add(key, bytes, rights));
    auto keeper = std::make_shared<kept_region>(known_, key, for_ever);
    const packed_key made{reinterpret_cast<std::uint64_t>(bytes.data()),
                          bytes.size(),
                          key,
                          key_version,
                          static_cast<std::uint8_t>(allowed),
                          0};
    const auto packed = std::as_bytes(std::span(&made, 1));
    return shared_memory{bytes, {packed.begin(), packed.end()}, std::move(keeper)};
}

ucs::result<shared_memory> paired_domain::allocate(std::size_t length) {
    using word = std::uint64_t;  // of atomic operations
    const std::size_t words = (length + sizeof(word) - 1) / sizeof(word);
    struct both {
        std::unique_ptr<word[]> memory;
        std::shared_ptr<const void> region;  // destroyed first
    };
    auto kept = std::make_shared<both>();
    kept->memory = std::make_unique<word[]>(words);
    auto* const first = reinterpret_cast<std::byte*>(kept->memory.get());
    constexpr auto all = memory_access::change;
    auto made = add({first, words * sizeof(word)}, all, shared_rights(all), false);
    if (!made) return made.status();
    kept->region = std::move(made->keeper);
    made->bytes = made->bytes.first(length);
    made->keeper = std::move(kept);
    return std::move(*made);
}

ucs::result<std::unique_ptr<remote_memory>> paired_domain::attach(std::span<const std::byte> key,
                                                                  memory_access wanted) {
    const packed_key known = ucs::wire::reader(key).get<packed_key>();
    if (key.size() != sizeof known || known.version != key_version || known.access > 1 ||
        known.pad != 0 || known.base + known.length < known.base) {
        ucs::log::error(uct_log, "simrc: a key to a peer's memory is malformed");
        return UCS_ERR_INVALID_PARAM;
    }
    const auto allowed = static_cast<memory_access>(known.access);
    return std::unique_ptr<remote_memory>(std::make_unique<remote_region>(
        known.base, known.length, known.key, wanted == memory_access::read ? wanted : allowed));
}

}  // namespace uct::sim
