#include "test/conformance/support/side.hpp"

#include <poll.h>

#include <stdexcept>

#include "ucs/security/job_key.hpp"

namespace conformance {

side::side(environment& where, std::uint64_t worker_uid)
    : landing_(where.landing()), config_(where.config()) {
    auto events = ucs::async::event_loop::create();
    if (!events) throw std::runtime_error("cannot create an event loop");
    events_ = std::move(*events);
    auto key = ucs::security::load_job_key(config_);
    if (!key) throw std::runtime_error("the job key cannot be used");
    job_key_ = *key;
    auto opened =
        where.transport().open(where.where(), {.events = *events_,
                                               .config = config_,
                                               .worker_uid = worker_uid,
                                               .sleeps = true,
                                               .job_key = job_key_ ? &*job_key_ : nullptr});
    if (!opened) {
        throw std::runtime_error(std::string("cannot open the interface: ") +
                                 ucs_status_string(opened.status()));
    }
    iface_ = std::move(*opened);
    for (uct::am_id id = 0; id < recorded_ids; ++id)
        record(id);
    iface_->set_error_handler({.failed =
                                   [](void* arg, uct::ep& failed_ep, ucs_status_t status) {
                                       auto* self = static_cast<side*>(arg);
                                       const auto gone =
                                           std::erase_if(self->others_, [&](const auto& each) {
                                               return each.get() == &failed_ep;
                                           });
                                       if (gone > 0) return;
                                       self->failures.push_back({&failed_ep, status});
                                       if (self->on_failure) {
                                           self->on_failure(self->failures.back());
                                       }
                                   },
                               .arg = this});
}

side::~side() = default;

unsigned side::progress() {
    if (iface_ == nullptr) return 0;
    const unsigned slow = poll_events();
    return slow + iface_->progress();
}

ucs_status_t side::arm() {
    const ucs_status_t status = iface_->arm();
    return status == UCS_OK ? events_->arm() : status;
}

bool side::sleep(int timeout_ms) const {
    pollfd one{events_->fd(), POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
}

bytes side::address() const {
    bytes written(iface_->attr().address_length);
    iface_->pack_address(written);
    return written;
}

std::unique_ptr<uct::ep> side::connect(side& to) {
    const auto create = [](side& from, const side& to_side) {
        auto created = from.iface_->create_ep(to_side.address());
        if (!created) {
            throw std::runtime_error(std::string("cannot create an endpoint: ") +
                                     ucs_status_string(created.status()));
        }
        return std::move(*created);
    };
    auto made = create(*this, to);
    if (attr().connection_length == 0) return made;
    auto other = create(to, *this);
    const auto tell = [length = attr().connection_length](uct::ep& one, const uct::ep& other_ep) {
        bytes data(length);
        other_ep.pack_connection(data);
        if (one.connect_to(data) != UCS_OK) throw std::runtime_error("cannot connect an endpoint");
    };
    tell(*other, *made);
    tell(*made, *other);
    to.others_.push_back(std::move(other));
    return made;
}

void side::record(uct::am_id id) {
    slot& own_slot = slots_.insert_or_assign(id, slot{this, id}).first->second;
    uct::am_handler handler{.deliver = deliver, .arg = &own_slot};
    if (landing_) {
        handler.landing_header = sizeof(std::uint64_t);
        handler.locate = locate;
        handler.landed = landed;
    }
    iface_->set_am_handler(id, handler);
}

std::size_t side::count(std::uint32_t stream) const {
    return static_cast<std::size_t>(std::count_if(
        inbox.begin(), inbox.end(),
        [stream](const received& message) { return tag_of(message.data).stream == stream; }));
}

void side::take(received&& message) {
    inbox.push_back(std::move(message));
    if (on_message) {
        // The callback may enlarge the inbox.
        const received copy = inbox.back();
        on_message(copy);
    }
}

void side::deliver(void* arg, void* data, std::size_t length) {
    const slot& own_slot = *static_cast<slot*>(arg);
    const auto* first = static_cast<const std::byte*>(data);
    own_slot.owner->take({.id = own_slot.id,
                          .data = bytes(first, first + length),
                          .aligned = reinterpret_cast<std::uintptr_t>(data) % 8 == 0,
                          .landed = false,
                          .connection = own_slot.owner->iface_->connection_of({data, length})});
    // The handler owns the buffer during the call, so writing to it must be harmless.
    if (length > 0) std::memset(data, 0xee, length);
}

void* side::locate(void* arg, const void* header, std::size_t payload_length) {
    side& self = *static_cast<slot*>(arg)->owner;
    std::uint64_t word = 0;
    std::memcpy(&word, header, sizeof word);
    // Only long messages land, so that both ways of delivery are tested.
    constexpr std::size_t long_enough = 24;
    if (payload_length < long_enough) return nullptr;
    bytes& room = self.landing_now_[word];
    if (room.empty()) room.resize(payload_length);
    return room.data();
}

void side::landed(void* arg, const void* header, std::size_t payload_length) {
    const slot& own_slot = *static_cast<slot*>(arg);
    std::uint64_t word = 0;
    std::memcpy(&word, header, sizeof word);
    const bytes payload = std::move(own_slot.owner->landing_now_[word]);
    own_slot.owner->landing_now_.erase(word);
    received message{
        .id = own_slot.id, .data = bytes(sizeof word), .aligned = true, .landed = true};
    std::memcpy(message.data.data(), &word, sizeof word);
    message.data.insert(message.data.end(), payload.begin(), payload.end());
    if (payload.size() != payload_length) message.data.clear();
    own_slot.owner->take(std::move(message));
}

}  // namespace conformance
