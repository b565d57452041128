// A hostile peer: the input is a program of calls to a worker and of messages that arrive between
// them. The fuzzer may write numbers that the worker sent (ids, addresses) into its messages, so
// that it passes the look-up of ids. Every request must have ended when the worker is destroyed.
#include <list>
#include <optional>
#include <utility>

#include "test/fuzz/black_hole.hpp"
#include "test/fuzz/program.hpp"
#include "test/fuzz/silence.hpp"
#include "ucp/am/receiver.hpp"
#include "ucp/am/wire.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/mem/map.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/rma/rma.hpp"
#include "ucp/rndv/rndv_recv.hpp"
#include "ucp/stream/wire.hpp"
#include "ucp/wireup/proof.hpp"
#include "ucp/wireup/wire.hpp"

namespace {

using namespace fuzz;

// The peer proves its connection messages, so that the fuzzer reaches the code behind that check.
const ucs::security::key_pair& peer_keys() {
    static const auto made = ucs::security::key_pair::random();
    return made;
}
const std::uint64_t peer_uid = ucp::address::uid_of(peer_keys().public_half());

// The peer's real address.
std::vector<std::byte> peer_address() {
    ucp::address::worker_address made;
    made.identity = peer_keys().public_half();
    made.name = "peer";
    ucp::address::entry entry;
    entry.transport = entry.device = "hole";
    entry.scope = uct::scope::host;
    entry.iface_address.assign(4, std::byte{7});
    made.entries.push_back(entry);
    return ucp::address::pack(made, false);
}

// A request with its memory. It stays in the list until it ends.
struct operation {
    std::list<operation>* home;
    std::list<operation>::iterator self;
    std::vector<std::byte> memory;
    void* request = nullptr;
};

class world {
public:
    explicit world(reader input) : input_(input), address_(peer_address()) {
        ucp::context_params params;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                          UCP_FEATURE_AMO64;
        ucs::config::source source = ucs::config::source::empty();
        source.set("HOST_PROBE", "n");
        const unsigned choice = input_.byte();
        if (choice % 4 != 0) source.set("RNDV_THRESH", "500");
        static constexpr const char* schemes[] = {"auto", "am", "get_zcopy"};
        source.set("RNDV_SCHEME", schemes[choice / 4 % 3]);
        if (choice / 12 % 2 != 0) source.set("UNEXPECTED_ANNOUNCEMENTS", "2");
        const uct::component* const list[] = {&component_};
        context_ = std::move(*ucp::context::create(params, std::move(source), list));
        worker_ = std::move(*ucp::worker::create(*context_, {}));
        if (choice / 24 % 2 != 0) worker_->limits().waiting().set_most(500);
        if (choice / 48 % 2 != 0) slot_of<ucp::am_receiver>(*worker_).arriving().set_most(50'000);
        shared_key_ = peer_keys().agree(worker_->identity().public_half());
        for (unsigned id = 0; id < 3; ++id)
            set_handler(id);
        share_memory();
        connect();
    }
    ~world() {
        worker_.reset();
        // No peer has a key that permits writes outside of the memory.
        require(std::all_of(memory_.begin(), memory_.begin() + margin, is_zero) &&
                std::all_of(memory_.end() - margin, memory_.end(), is_zero));
        // The worker ends all pending operations; after that nothing may access the memory.
        running_.clear();
    }

    void run() {
        while (!input_.empty())
            step();
        hole().blocked = false;
        for (int i = 0; i < 8; ++i)
            worker_->progress();
    }

private:
    static fuzz::hole_iface& hole() { return *fuzz::hole_iface::last; }

    void step() {
        switch (input_.byte() % 20) {
            case 0:
                return post_receive();
            case 1:
                return send();
            case 2:
                return cancel();
            case 3:
                return probe();
            case 4:
                return reconnect();
            case 5:
                hole().blocked = !hole().blocked;
                return;
            case 6:
                hole().slow_transfers = !hole().slow_transfers;
                return;
            case 7:
                hole().transfer_status = input_.byte() % 2 == 0 ? UCS_OK : UCS_ERR_UNSUPPORTED;
                return;
            case 8:
                return flush();
            case 9:
                return wireup();
            case 10:
                return good_message();
            case 11:
                hole().break_links();
                return;
            case 12:
                hole().supports_landing = !hole().supports_landing;
                return;
            case 13:
            case 14:
                worker_->progress();
                return;
            case 15:
                return send_other();
            case 16:
                return read_stream();
            case 17:
                return use_kept();
            case 18:
                return remote();
            default:
                return message();
        }
    }

    // Handlers of three kinds. Kept data is received or forgotten.
    void set_handler(unsigned id) {
        static constexpr std::uint32_t flags[] = {0, UCP_AM_FLAG_PERSISTENT_DATA,
                                                  UCP_AM_FLAG_WHOLE_MSG};
        ucp_am_handler_param_t param{};
        param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                           UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
        param.id = id;
        param.flags = flags[id];
        param.cb = on_active;
        param.arg = this;
        require(ucp_worker_set_am_recv_handler(handle(), &param) == UCS_OK);
    }
    static ucs_status_t on_active(void* arg, const void* header, std::size_t header_length,
                                  void* data, std::size_t length,
                                  const ucp_am_recv_param_t* param) {
        auto& self = *static_cast<world*>(arg);
        // Every byte of a delivered message must be readable.
        unsigned sum = 0;
        const auto add = [&sum](const void* from, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                sum += static_cast<const std::uint8_t*>(from)[i];
        };
        add(header, header_length);
        const bool announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
        const bool may_keep = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
        if (!announced) add(data, length);
        const unsigned choice = self.input_.byte() + sum % 2;
        if (announced && choice % 4 == 1) return UCS_ERR_NO_RESOURCE;
        if ((!announced && !may_keep) || choice % 4 == 0) return UCS_OK;
        self.kept_.push_back(data);
        return UCS_INPROGRESS;
    }
    void use_kept() {
        if (kept_.empty()) return;
        void* const data = kept_.back();
        kept_.pop_back();
        if (input_.byte() % 2 == 0) {
            ucp_am_data_release(handle(), data);
            return;
        }
        auto [fresh, param] = begin(size());
        param.cb.recv_am = received_data;
        started(fresh, ucp_am_recv_data_nbx(handle(), data, fresh.memory.data(),
                                            fresh.memory.size(), &param));
    }
    static void received_data(void* request, ucs_status_t status, std::size_t length, void* arg) {
        auto& done = *static_cast<operation*>(arg);
        require(status != UCS_OK || length <= done.memory.size());
        ucp_request_free(request);
        end(done);
    }
    void send_other() {
        auto [fresh, param] = begin(size());
        param.cb.send = sent;
        const unsigned choice = input_.byte();
        if (choice % 2 == 0) {
            started(fresh,
                    ucp_stream_send_nbx(ep_, fresh.memory.data(), fresh.memory.size(), &param));
            return;
        }
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = choice / 2 % 16;
        if ((param.flags & 6) == 6) param.flags &= 9;
        static constexpr std::byte header[100]{};
        started(fresh, ucp_am_send_nbx(ep_, choice / 32, header, choice % 100, fresh.memory.data(),
                                       fresh.memory.size(), &param));
    }
    void read_stream() {
        const unsigned choice = input_.byte();
        std::size_t length = 0;
        if (choice % 4 == 0) {
            const ucs_status_ptr_t data = ucp_stream_recv_data_nb(ep_, &length);
            if (UCS_PTR_IS_PTR(data)) ucp_stream_data_release(ep_, data);
            return;
        }
        auto [fresh, param] = begin(size());
        param.cb.recv_stream = received_data;
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
        param.flags = choice % 2;
        param.datatype = ucp_dt_make_contig(1);
        started(fresh, ucp_stream_recv_nbx(ep_, fresh.memory.data(), fresh.memory.size(), &length,
                                           &param));
    }

    void connect() {
        ucp_ep_params_t params{};
        params.field_mask =
            UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
        params.address = reinterpret_cast<const ucp_address_t*>(address_.data());
        params.err_mode =
            input_.byte() % 2 == 0 ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
        require(ucp_ep_create(handle(), &params, &ep_) == UCS_OK);
        if (input_.byte() % 4 != 0) answer();
    }

    // Sends a message, so that the endpoint sends a request, and replies like a correct peer.
    void answer() {
        ucp_request_param_t param{};
        const ucs_status_ptr_t sending = ucp_tag_send_nbx(ep_, nullptr, 0, 0, &param);
        if (UCS_PTR_IS_PTR(sending)) ucp_request_free(sending);
        const std::uint64_t uid = worker_->uid();
        ucp::wire::wireup_header reply{
            ucp::wire::wireup_type::reply, {}, peer_uid, uid, 42, ep_id()};
        reply.proof =
            ucp::wireup::prove(*shared_key_, worker_->identity().address(false), reply, {});
        hole().inject(ucp::wire::wireup, std::as_bytes(std::span(&reply, 1)));
    }
    [[nodiscard]] std::uint64_t ep_id() const { return ucp::capi::from(ep_).id(); }

    void reconnect() {
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = input_.byte() % 2 == 0 ? UCP_EP_CLOSE_FLAG_FORCE : 0U;
        const ucs_status_ptr_t closing = ucp_ep_close_nbx(ep_, &param);
        if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
        connect();
    }

    [[nodiscard]] ucp_worker_h handle() const { return ucp::capi::handle(*worker_); }

    // Returns an operation that begins, and the parameters of its call.
    std::pair<operation&, ucp_request_param_t> begin(std::size_t size) {
        running_.emplace_back();
        operation& fresh = running_.back();
        fresh.home = &running_;
        ended_ = nullptr;
        fresh.self = std::prev(running_.end());
        fresh.memory.resize(size);
        ucp_request_param_t param{};
        param.op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        param.user_data = &fresh;
        return {fresh, param};
    }
    static void end(operation& done) {
        ended_ = &done;
        done.home->erase(done.self);
    }

    // The callback may have run during the call.
    static void started(operation& fresh, ucs_status_ptr_t result) {
        if (std::exchange(ended_, nullptr) == &fresh) return;
        if (!UCS_PTR_IS_PTR(result)) return end(fresh);
        fresh.request = result;
    }

    std::size_t size() {
        static constexpr std::size_t sizes[] = {0, 1, 8, 100, 1000, 3000, 20000, 100000};
        return sizes[input_.byte() % 8];
    }

    static void sent(void* request, ucs_status_t, void* arg) {
        ucp_request_free(request);
        end(*static_cast<operation*>(arg));
    }
    static void received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                         void* arg) {
        received_data(request, status, status == UCS_OK ? info->length : 0, arg);
    }

    void send() {
        auto [fresh, param] = begin(size());
        param.cb.send = sent;
        const unsigned choice = input_.byte();
        const auto start = choice % 2 == 0 ? ucp_tag_send_nbx : ucp_tag_send_sync_nbx;
        started(fresh,
                start(ep_, fresh.memory.data(), fresh.memory.size(), choice / 2 % 4, &param));
    }

    void post_receive() {
        auto [fresh, param] = begin(size());
        param.cb.recv = received;
        const unsigned tag = input_.byte();
        started(fresh, ucp_tag_recv_nbx(handle(), fresh.memory.data(), fresh.memory.size(), tag % 4,
                                        tag / 4 % 2 == 0 ? ~0ULL : 0ULL, &param));
    }

    void cancel() {
        if (running_.empty()) return;
        auto which = running_.begin();
        std::advance(which, input_.byte() % running_.size());
        if (which->request != nullptr) ucp_request_cancel(handle(), which->request);
    }

    void probe() {
        ucp_tag_recv_info_t info;
        const unsigned choice = input_.byte();
        const ucp_tag_message_h found =
            ucp_tag_probe_nb(handle(), choice % 4, choice / 4 % 2 == 0 ? ~0ULL : 0ULL,
                             choice / 8 % 2 == 0 ? 1 : 0, &info);
        if (found == nullptr || choice / 8 % 2 != 0) return;
        auto [fresh, param] = begin(std::min<std::size_t>(info.length, 5000));
        param.cb.recv = received;
        started(fresh, ucp_tag_msg_recv_nbx(handle(), fresh.memory.data(), fresh.memory.size(),
                                            found, &param));
    }

    static bool is_zero(std::byte each) { return each == std::byte{0}; }

    // Memory for which the peer has a key, and a key to memory that the peer claims to have.
    void share_memory() {
        memory_.assign(margin + shared_length + margin, std::byte{0});
        const auto made = ucp::mem::map(
            context_->memories(), {.address = memory_.data() + margin, .length = shared_length});
        require(made.ok());
        shared_ = *made;
        const ucp::mem::key remote{.owner = {5, 6},
                                   .base = 4096,
                                   .length = 1 << 20,
                                   .allowed = ucp::mem::all_access,
                                   .exported = false,
                                   .block = {}};
        rkey_ =
            std::move(*ucp::mem::unpack(context_->memories(), ucp::mem::pack(remote).bytes.data()));
    }

    // An operation on the peer's memory, or a fence.
    void remote() {
        const ucp_rkey_h key = ucp::capi::handle(*rkey_);
        const unsigned choice = input_.byte();
        if (choice == 255) return require(ucp::fence(*worker_));
        const std::uint64_t address = 4096 + choice / 16 * 8;
        auto [fresh, param] = begin(std::max<std::size_t>(size(), 8));
        param.cb.send = sent;
        void* const memory = fresh.memory.data();
        const std::size_t length = fresh.memory.size();
        if (choice % 4 == 0) {
            started(fresh, ucp_put_nbx(ep_, memory, length, address, key, &param));
        } else if (choice % 4 == 1) {
            started(fresh, ucp_get_nbx(ep_, memory, length, address, key, &param));
        } else {
            param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
            param.datatype = ucp_dt_make_contig(8);
            param.reply_buffer = memory;
            if (choice % 4 == 3) param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
            const auto operation = static_cast<ucp_atomic_op_t>(choice / 4 % UCP_ATOMIC_OP_LAST);
            started(fresh, ucp_atomic_op_nbx(ep_, operation, memory, 1, address, key, &param));
        }
    }

    // An address in the shared memory, or slightly outside of it.
    std::uint64_t shared_address() { return shared_->address() + input_.byte() * 8 - 256; }

    void flush() {
        ucp_request_param_t param{};
        const ucs_status_ptr_t flushing = ucp_ep_flush_nbx(ep_, &param);
        if (UCS_PTR_IS_PTR(flushing)) ucp_request_free(flushing);
    }

    // Numbers that are useful in a message.
    std::uint64_t known_number() {
        const unsigned which = input_.byte();
        switch (which) {
            case 255:
                return peer_uid;
            case 254:
                return worker_->uid();
            case 253:
                return ~0ULL;
            case 252:
                return ep_id();
            default:
                return which < 128 ? hole().seen[which % hole().seen.size()] : which - 128;
        }
    }

    void patch(std::vector<std::byte>& message) {
        for (unsigned left = input_.byte() % 6; left > 0; --left) {
            const std::size_t offset = input_.byte() % 6 * 8;
            const std::uint64_t number = known_number();
            if (offset + 8 <= message.size()) std::memcpy(message.data() + offset, &number, 8);
        }
    }

    void message() {
        const auto id = static_cast<uct::am_id>(input_.byte() % 32);
        const std::size_t length = input_.byte() * 8 + input_.byte() % 8;
        const auto content = input_.bytes(input_.byte());
        std::vector<std::byte> bytes(std::min<std::size_t>(length, fuzz::hole_iface::max_message));
        for (std::size_t i = 0; i < std::min(bytes.size(), content.size()); ++i)
            bytes[i] = std::byte{content[i]};
        patch(bytes);
        hole().inject(id, bytes);
    }

    ucp::request_ids& ids() { return ucp::slot_of<ucp::request_ids>(*worker_); }

    // One of the ids that the worker has sent in requests; 0 if there is none.
    std::uint64_t id_in(ucs::datastruct::secret_id_table<ucp::request*>& table) {
        std::vector<std::uint64_t> all;
        table.for_each([&](std::uint64_t id, ucp::request*) { all.push_back(id); });
        return all.empty() ? 0 : all[input_.byte() % all.size()];
    }
    // The offset of the next fragment of a streamed message.
    std::uint64_t next_offset(std::uint64_t reply) {
        ucp::request** found = ids().receives.find(reply);
        return found == nullptr ? 0 : (*found)->as<ucp::rndv_recv>().offset;
    }

    // The numbers of a message with plausible values; see ucp/core/wire.hpp.
    std::vector<std::uint64_t> good_header(uct::am_id id, std::size_t payload) {
        namespace wire = ucp::wire;
        const std::uint64_t number = input_.byte() % 4;
        switch (id) {
            case wire::eager_only:
                return {number};
            case wire::eager_first:
                first_ = payload;
                return {number, size(), ep_id(), ++messages_, number};
            case wire::eager_data:
                first_ += payload;
                return {ep_id(), messages_, first_ - payload};
            case wire::rndv_rts:
                return {number,
                        size(),
                        ep_id(),
                        number + 1,
                        number % 2 * 4096,
                        number % 3 | number / 2 << 32};
            case wire::rndv_data: {
                const std::uint64_t reply = id_in(ids().receives);
                return {reply, next_offset(reply)};
            }
            case wire::rndv_atp:
                return {id_in(ids().receives), number % 2 == 0 ? 0 : ~0ULL};
            case wire::rndv_rtr:
                return {id_in(ids().sends), number, number % 2 * 4096, number / 2 * 64, ep_id()};
            case wire::rndv_ats:
                return {id_in(ids().sends), number % 2 == 0 ? 0 : ~0ULL, number % 3, ep_id()};
            case wire::am_only:
                return {number | (number % 2) << 16 | (payload / 8 % 4) << 32, ep_id()};
            case wire::am_first:
                first_ = payload;
                return {number, size(), ep_id(), ++messages_, 0};
            case wire::am_rts:
                return {number | (payload / 8 % 4) << 32,
                        size(),
                        ep_id(),
                        number + 1,
                        number % 2 * 4096,
                        number % 3};
            case wire::stream_data:
            case wire::credit_request:
            case wire::credit_grant:
                return {ep_id()};
            case wire::rndv_more:
                return {ep_id(), number};
            case wire::stream_credit:
                return {ep_id(), size() * 10};
            case wire::rma_put:
                return {ep_id(), shared_->owner().id, shared_->owner().secret, shared_address()};
            case wire::rma_get:
                return {
                    ep_id(), shared_->owner().id, shared_->owner().secret, shared_address(), size(),
                    number};
            case wire::rma_data: {
                const std::uint64_t reply = id_in(ids().sends);
                ucp::request** found = ids().sends.find(reply);
                return {reply, found == nullptr ? 0 : (*found)->state.send.offset};
            }
            case wire::rma_result:
                return {id_in(ids().sends), number % 2 == 0 ? 0 : ~0ULL, number};
            case wire::rma_atomic:
                return {ep_id(),
                        shared_->owner().id,
                        shared_->owner().secret,
                        shared_address(),
                        number,
                        number,
                        number / 2,
                        number % 2 * 0x800000000 + 0x400000000 + input_.byte() % 7};
            case wire::rma_confirm:
                return {ep_id(), number};
            case wire::rma_confirmed:
                return {ep_id(), number + 1, number % 2 == 0 ? 0 : ~0ULL};
            default:  // acknowledgements
                return {id_in(ids().sends), number % 2 == 0 ? 0 : ~0ULL};
        }
    }

    void good_message() {
        namespace wire = ucp::wire;
        static constexpr uct::am_id ids[] = {
            wire::eager_only,  wire::eager_first,   wire::eager_data,     wire::eager_ack,
            wire::rndv_rts,    wire::rndv_rtr,      wire::rndv_data,      wire::rndv_ats,
            wire::rndv_atp,    wire::am_only,       wire::am_first,       wire::am_rts,
            wire::stream_data, wire::stream_credit, wire::credit_request, wire::credit_grant,
            wire::rma_put,     wire::rma_get,       wire::rma_data,       wire::rma_result,
            wire::rma_atomic,  wire::rma_confirm,   wire::rma_confirmed,  wire::rndv_more};
        const uct::am_id id = ids[input_.byte() % std::size(ids)];
        const std::size_t payload = input_.byte() * 8;
        const std::vector<std::uint64_t> header = good_header(id, payload);
        std::vector<std::byte> bytes(header.size() * 8 + payload);
        std::memcpy(bytes.data(), header.data(), header.size() * 8);
        if (input_.byte() % 4 == 0) patch(bytes);
        hole().inject(id, bytes);
    }

    // A connection message, mostly with a valid address and a valid proof.
    void wireup() {
        using ucp::wire::wireup_header;
        using ucp::wire::wireup_type;
        const unsigned choice = input_.byte();
        std::vector<std::byte> bytes(sizeof(wireup_header));
        bytes[0] = static_cast<std::byte>(choice % 64 % 12 + (choice & ucp::wire::over_pair));
        std::memcpy(bytes.data() + 8, &peer_uid, 8);
        const std::uint64_t uid = worker_->uid();
        std::memcpy(bytes.data() + 16, &uid, 8);
        patch(bytes);
        wireup_header header;
        std::memcpy(&header, bytes.data(), sizeof header);
        std::vector<std::byte> body;
        if (header.type == wireup_type::pair) body.push_back(std::byte{0});  // no lanes
        body.insert(body.end(), address_.begin(), address_.end());
        if (input_.byte() % 8 == 1) patch(body);
        // A repeated request is dropped early.
        if (header.type == wireup_type::request) header.set_order(++requests_);
        const bool is_forged = (choice & 0x80) != 0;
        if (!is_forged) {
            const bool by_attempt = header.type == wireup_type::unpaired;
            header.receipt = ucp::wireup::make_receipt(
                *shared_key_, uid, by_attempt ? header.ep : header.peer_ep_or_number);
            if (header.type == wireup_type::refuse)
                header.peer_ep_or_number ^= ucp::wireup::make_ep_mask(*shared_key_, header.receipt);
            header.proof =
                ucp::wireup::prove(*shared_key_, worker_->identity().address(false), header, body);
        }
        std::memcpy(bytes.data(), &header, sizeof header);
        bytes.insert(bytes.end(), body.begin(), body.end());
        hole().inject(ucp::wire::wireup, bytes);
    }

    reader input_;
    const std::vector<std::byte> address_;
    fuzz::hole_component component_;
    static constexpr std::ptrdiff_t margin = 64;
    static constexpr std::size_t shared_length = 1024;
    std::vector<std::byte> memory_;
    std::unique_ptr<ucp::context> context_;
    std::unique_ptr<ucp::worker> worker_;
    std::optional<ucs::security::key> shared_key_;  // shared by the peer and the worker
    ucp_ep_h ep_ = nullptr;
    const ucp::mem::memory* shared_ = nullptr;  // the middle of it
    std::unique_ptr<ucp::mem::rkey> rkey_;
    std::list<operation> running_;
    std::vector<void*> kept_;                         // kept by handlers
    std::uint64_t requests_ = 0;                      // connection requests
    std::uint64_t messages_ = 0;                      // fragmented messages that were begun
    std::uint64_t first_ = 0;                         // bytes of the last of them
    static inline const operation* ended_ = nullptr;  // the last ended operation; compared only
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::silence quiet;
    world(reader(data, size)).run();
    return 0;
}
