// A hostile process that knows a rank's worker. It sends control messages of a group (failures,
// departures, waits-for replies) while the ranks run barriers. The input is a program of such
// messages and of calls. The ranks must always be able to cancel, and to destroy their groups.

#include "test/fuzz/program.hpp"
#include "test/fuzz/silence.hpp"
#include "test/sim/transports.hpp"
#include "test/support/environment.hpp"
#include "test/support/identities.hpp"
#include "test/support/oob_board.hpp"
#include "ucg/net/control_messages.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/core/worker.hpp"
#include "ucs/time/clock.hpp"

namespace {

using namespace fuzz;
using ucg::net::control_messages;

constexpr std::uint32_t ranks = 3;

// Mostly the number of a rank, sometimes any number.
template<class Number>
Number number(reader& input) noexcept {
    const unsigned first = input.byte();
    if (first < 240) return static_cast<Number>(first % 6);
    Number any{};
    for (std::size_t i = 0; i < sizeof any; ++i)
        any = static_cast<Number>(static_cast<std::uint64_t>(any) << 8 | input.byte());
    return any;
}

// A process of the simulation.
struct process {
    std::unique_ptr<ucp::context> ucp;
    std::unique_ptr<ucp::worker> worker;

    explicit process(const sim_test::transports& over) {
        ucp::context_params params;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        ucp = over.new_context({{"HOST_PROBE", "n"}}, params, false);
        worker = std::move(*ucp::worker::create(*ucp, {}));
    }
    [[nodiscard]] ucp_worker_h handle() const { return ucp::capi::handle(*worker); }
};

class world {
public:
    explicit world(reader input) : input_(input), identities_(1), network_(1), over_(network_) {
        current_ = this;
        ucs::time::set_simulation_yield([]() noexcept { current_->turn(); });
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            add(rank);
        for (int turns = 0; !are_made(); ++turns) {
            require(turns < 100'000);
            turn();
        }
        connect();
    }
    ~world() {
        end_barriers();
        for (const ucg_group_h each : groups_)
            ucg_group_destroy(each);
        ucp_request_param_t by_force{};
        by_force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        by_force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        void* const closing = ucp_ep_close_nbx(victim_, &by_force);
        if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
        for (const ucg_context_h each : contexts_)
            ucg_context_destroy(each);
        ucs::time::set_simulation_yield(nullptr);
    }

    void run() {
        while (!input_.empty())
            step();
    }

private:
    // Each rank is on a node of its own, so all data goes by messages. Link parameters are given,
    // so nothing is measured.
    void add(std::uint32_t rank) {
        const test::env node("UCG_NODE_ID", std::to_string(rank).c_str());
        const test::env latency("UCG_LATENCY", "1us"), bandwidth("UCG_BANDWIDTH", "1g");
        members_.push_back(std::make_unique<process>(over_));
        ucg_context_params_t context_params = UCG_CONTEXT_PARAMS_INIT;
        context_params.worker = members_.back()->handle();
        contexts_.push_back(nullptr);
        require(ucg_context_create(&context_params, &contexts_.back()) == UCS_OK);
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = board_.oob(rank);
        groups_.push_back(nullptr);
        barriers_.push_back(nullptr);
        require(ucg_group_create(contexts_.back(), &params, &groups_.back()) == UCS_OK);
    }

    [[nodiscard]] bool are_made() const {
        for (const ucg_group_h each : groups_) {
            const ucs_status_t status = ucg_group_test(each);
            require(status == UCS_OK || status == UCS_INPROGRESS);
            if (status == UCS_INPROGRESS) return false;
        }
        return true;
    }

    void connect() {
        ucp_address_t* address = nullptr;
        std::size_t length = 0;
        require(ucp_worker_get_address(members_[0]->handle(), &address, &length) == UCS_OK);
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = address;
        require(ucp_ep_create(stranger_.handle(), &params, &victim_) == UCS_OK);
        ucp_worker_release_address(members_[0]->handle(), address);
    }

    void turn() {
        for (const ucg_context_h each : contexts_)
            ucg_progress(each);
        stranger_.worker->progress();
        if (!network_.step()) network_.advance(1'000'000);
    }

    void step() {
        switch (input_.byte() % 9) {
            case 0:
                return send_message(control_messages::failure{
                    number<std::uint32_t>(input_), static_cast<std::int32_t>(input_.byte()) - 128,
                    number<std::uint64_t>(input_)});
            case 1:
                return send_message(control_messages::failure{0, control_messages::rank_left,
                                                              number<std::uint64_t>(input_)});
            case 2:
                return send_message(control_messages::query{
                    number<std::uint32_t>(input_), number<std::uint32_t>(input_),
                    number<std::uint32_t>(input_), input_.byte(), number<std::uint64_t>(input_)});
            case 3:
                return send_reply();
            case 4:
                return send(input_.bytes(input_.byte() % 64));
            case 5:
                return begin(input_.byte() % ranks);
            case 6:
                for (unsigned turns = input_.byte() % 32 * 8; turns > 0; --turns)
                    turn();
                return;
            case 7:
                // Advances the time until ranks begin to query each other.
                network_.advance(input_.byte() % 32 * 10'000'000ULL);
                return turn();
            default:
                return ask_who_is_missing();
        }
    }

    void send_reply() {
        control_messages::reply reply{};
        reply.group = number<std::uint32_t>(input_);
        reply.responder = number<std::uint32_t>(input_);
        reply.operation = number<std::uint64_t>(input_);
        reply.waiting_for_count = number<std::uint32_t>(input_);
        reply.started_count = number<std::uint32_t>(input_);
        for (auto& each : reply.waiting_for)
            each = number<std::uint32_t>(input_);
        for (auto& each : reply.started)
            each = number<std::uint32_t>(input_);
        send_message(reply);
    }

    template<class Message>
    void send_message(const Message& message) {
        std::vector<std::uint8_t> bytes(sizeof message);
        std::memcpy(bytes.data(), &message, sizeof message);
        send(bytes);
    }

    // The header is the message. It is copied before the call returns.
    void send(std::span<const std::uint8_t> bytes) {
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags =
            UCP_AM_SEND_FLAG_COPY_HEADER | (bytes.size() % 2 == 0 ? UCP_AM_SEND_FLAG_REPLY : 0U);
        void* const sent = ucp_am_send_nbx(victim_, control_messages::am_id, bytes.data(),
                                           bytes.size(), nullptr, 0, &param);
        if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);
    }

    void begin(std::uint32_t rank) {
        if (barriers_[rank] != nullptr) {
            if (ucg_request_test(barriers_[rank]) == UCS_INPROGRESS) return;
            require(ucg_request_free(barriers_[rank]) == UCS_OK);
        }
        ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
        args.coll = UCG_COLL_BARRIER;
        barriers_[rank] = nullptr;
        require(ucg_request_init(groups_[rank], &args, &barriers_[rank]) == UCS_OK);
        require(ucg_request_start(barriers_[rank]) == UCS_OK);
    }

    void ask_who_is_missing() {
        if (barriers_[0] == nullptr) return;
        std::uint32_t missing[ranks + 1];
        ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
        attr.missing = missing;
        attr.missing_max = ranks + 1;
        require(ucg_request_query(barriers_[0], &attr) == UCS_OK);
        require(attr.missing_count < ranks);
        for (std::uint32_t i = 0; i < attr.missing_count; ++i)
            require(missing[i] < ranks && missing[i] != 0);
    }

    void end_barriers() {
        for (const ucg_request_h each : barriers_)
            if (each != nullptr) ucg_request_cancel(each);
        for (const ucg_request_h each : barriers_) {
            for (int turns = 0; each != nullptr && ucg_request_test(each) == UCS_INPROGRESS;
                 ++turns) {
                require(turns < 100'000);
                turn();
            }
            require(ucg_request_free(each) == UCS_OK);
        }
    }

    static inline world* current_ = nullptr;

    reader input_;
    const test::seeded_identities identities_;
    uct::sim::fabric network_;
    const sim_test::transports over_;
    test::board board_{ranks};
    std::vector<std::unique_ptr<process>> members_;
    process stranger_{over_};
    ucp_ep_h victim_ = nullptr;
    std::vector<ucg_context_h> contexts_;
    std::vector<ucg_group_h> groups_;
    std::vector<ucg_request_h> barriers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::silence quiet;
    world(reader(data, size)).run();
    return 0;
}
