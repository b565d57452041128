// Tests of refused MoE calls through the C interface: their status, and that every rank ends.
#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/moe_job.hpp"

using namespace test::moe;

namespace {

// Rank 2 spoils its arguments: its init returns the status, and all ranks end with it.
template<class ArgsOf, class Spoil>
void expect_refused(job& test_job, ucs_status_t wanted, const ArgsOf& args_of, const Spoil& spoil,
                    bool idle_may_end = false) {
    batch all = test_job.requests([&](std::uint32_t rank) {
        auto args = args_of(rank);
        if (rank == 2) spoil(args);
        return args;
    });
    if (idle_may_end) all.let_idle_rank_end();
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        CHECK(all.init_status(rank) == (rank == 2 ? wanted : UCS_OK));
    CHECK(all.run(wanted));
}

struct wrong_tensor {
    const char* name;
    ucs_status_t status;
    std::function<void(ucg_moe_tensor_t&)> spoil;
};

// Invalid descriptions of any tensor with several rows.
std::vector<wrong_tensor> wrong_tensors() {
    return {
        {"no size", UCS_ERR_INVALID_PARAM, [](auto& t) { t.struct_size = 0; }},
        {"another size", UCS_ERR_INVALID_PARAM, [](auto& t) { t.struct_size = 200; }},
        {"no such type", UCS_ERR_INVALID_PARAM,
         [](auto& t) { t.type = static_cast<ucg_type_t>(99); }},
        {"a negative type", UCS_ERR_INVALID_PARAM,
         [](auto& t) { t.type = static_cast<ucg_type_t>(-1); }},
        {"opaque", UCS_ERR_INVALID_PARAM, [](auto& t) { t.type = UCG_TYPE_OPAQUE; }},
        {"of no use", UCS_ERR_INVALID_PARAM, [](auto& t) { t.type = UCG_TYPE_COMPLEX64; }},
        {"not there", UCS_ERR_INVALID_PARAM, [](auto& t) { t.type = UCG_TYPE_LAST; }},
        {"other memory", UCS_ERR_UNSUPPORTED, [](auto& t) { t.memory = UCS_MEMORY_TYPE_CUDA; }},
        {"one dimension", UCS_ERR_INVALID_PARAM, [](auto& t) { t.ndims = 1; }},
        {"nine dimensions", UCS_ERR_INVALID_PARAM, [](auto& t) { t.ndims = 9; }},
        {"no elements", UCS_ERR_INVALID_PARAM, [](auto& t) { t.dims[t.ndims - 1] = 0; }},
        {"too many elements", UCS_ERR_INVALID_PARAM,
         [](auto& t) { t.dims[t.ndims - 1] = 1ULL << 40U; }},
        {"too many rows", UCS_ERR_INVALID_PARAM, [](auto& t) { t.dims[0] = 1ULL << 62U; }},
        {"no data", UCS_ERR_INVALID_PARAM, [](auto& t) { t.data = nullptr; }},
        {"strides beyond memory", UCS_ERR_INVALID_PARAM, [](auto& t) { t.strides[0] = INT64_MAX; }},
        {"strides below memory", UCS_ERR_INVALID_PARAM, [](auto& t) { t.strides[0] = INT64_MIN; }},
    };
}

// Spoils each of these tensors in each way; with(status, spoil) makes the calls.
template<class Args, class With>
void refuse_tensors(const With& with, std::initializer_list<ucg_moe_tensor_t Args::*> tensors) {
    for (const wrong_tensor& each : wrong_tensors()) {
        INFO(each.name);
        for (const auto tensor : tensors)
            with(each.status, [&](Args& args) { each.spoil(args.*tensor); });
    }
}

// The ranks of two nodes; the case reads the log.
struct refused {
    const test::log_capture log;
    job test_job{{"a", "a", "b", "b"}};
};
// They have exchanged their choices.
struct refused_later : refused {
    refused_later() { test_job.notify(); }
};

struct named {
    const char* name;  // in the log
    ucg_moe_tensor_t* tensor;
    bool is_output;
};

std::uint64_t bytes_of(const ucg_moe_tensor_t& tensor) {
    std::uint64_t bytes = tensor.type == UCG_TYPE_FP8_E4M3 ? 1 : 4;
    for (std::uint32_t d = 0; d < tensor.ndims; ++d)
        bytes *= tensor.dims[d];
    return bytes;
}

// Dense tensors of which no two share a byte, then each two of them that share the first or the
// last word of one. Nothing is started, so nothing is written. `init()` looks at `all`.
void expect_apart(const test::log_capture& log, const char* operation, std::vector<named> all,
                  const std::function<ucs_status_t(ucg_request_h*)>& init) {
    std::uint64_t total = 0;
    for (const named& each : all)
        total += bytes_of(*each.tensor);
    // Twice the memory, for a tensor that begins at the end of the last one.
    std::vector<std::uint32_t> memory(total / 4 * 2 + 2);
    const auto lay_out = [&] {
        auto* next = reinterpret_cast<char*>(memory.data());
        for (const named& each : all) {
            each.tensor->data = next;
            next += bytes_of(*each.tensor);
        }
    };
    const auto try_init = [&] {
        ucg_request_h request = nullptr;
        const ucs_status_t status = init(&request);
        CHECK(ucg_request_free(request) == UCS_OK);
        return status;
    };
    lay_out();
    CHECK(try_init() == UCS_OK);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (i == j) continue;
            INFO("the " << all[j].name << " in the last word of the " << all[i].name);
            lay_out();
            all[j].tensor->data = static_cast<char*>(all[i].tensor->data) +
                                  (bytes_of(*all[i].tensor) - sizeof(float));
            // The other tensors must not overlap, so that the log names these two.
            std::vector<std::uint32_t> elsewhere(total / 4 + 1);
            auto* next = reinterpret_cast<char*>(elsewhere.data());
            for (std::size_t other = 0; other < all.size(); ++other) {
                if (other == i || other == j) continue;
                all[other].tensor->data = next;
                next += bytes_of(*all[other].tensor);
            }
            const bool wrong = all[i].is_output || all[j].is_output;
            const std::string line = std::string(operation) + ": the " + all[std::min(i, j)].name +
                                     " and the " + all[std::max(i, j)].name + " overlap";
            const std::size_t before = log.count(line);
            CHECK(try_init() == (wrong ? UCS_ERR_INVALID_PARAM : UCS_OK));
            CHECK(log.count(line) == before + (wrong ? 1 : 0));
        }
    }
}

}  // namespace

TEST_CASE("moe in C: teams that cannot be") {
    const test::log_capture log;
    test::world in({"a", "a"});
    ucg_moe_team_h team = nullptr;
    ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
    CHECK(ucg_moe_team_create(in.groups[0], &params, &team) == UCS_ERR_INVALID_PARAM);
    params.experts = 5;
    CHECK(ucg_moe_team_create(in.groups[0], &params, &team) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("5 experts cannot be distributed to 2 ranks") == 1);
    params.experts = 4;
    const std::uint8_t self[] = {1, 0};
    params.masked = self;
    CHECK(ucg_moe_team_create(in.groups[0], &params, &team) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_team_create(nullptr, &params, &team) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_team_create(in.groups[1], nullptr, &team) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_team_create(in.groups[1], &params, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(team == nullptr);
    REQUIRE(ucg_moe_team_create(in.groups[1], &params, &team) == UCS_OK);
    CHECK(ucg_moe_max_rows(team, 2, 10, 0) == 10);
    CHECK(ucg_moe_max_rows(nullptr, 2, 10, 0) == UINT64_MAX);
    CHECK(ucg_moe_max_rows(team, 2000, 10, 0) == UINT64_MAX);
    CHECK(ucg_moe_max_rows(team, 2, UINT64_MAX, 0) == UINT64_MAX);
    ucg_moe_team_destroy(team);
    ucg_moe_team_destroy(nullptr);
    ucg_moe_handle_release(nullptr);
    ucg_moe_expansion_release(nullptr);
    ucg_moe_slots_release(nullptr);
}

TEST_CASE_METHOD(refused, "moe in C: a notify that is refused on one rank ends on all") {
    const auto with = [&](ucs_status_t wanted, const auto& spoil) {
        const auto args_of = [&](std::uint32_t rank) { return test_job.routing(rank); };
        expect_refused(test_job, wanted, args_of, spoil);
    };
    refuse_tensors(with, {&ucg_moe_notify_args_t::topk});
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.route = static_cast<ucg_moe_route_t>(7); });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.channels = 100'000; });
    with(UCS_ERR_UNSUPPORTED, [](auto& args) { args.flags = 1U << 20U; });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.topk.type = UCG_TYPE_FP32; });
    for (const std::int64_t expert :
         {std::int64_t{-2}, std::int64_t{test_job.experts()}, std::int64_t{1} << 40U}) {
        table<std::int64_t> unknown(4, job::k, 1);
        unknown.at(2, 1) = expert;
        with(UCS_ERR_INVALID_PARAM, [&](auto& args) { args.topk = unknown.tensor(); });
        const std::string line = "token 2 chose expert " + std::to_string(expert) + " at place 1";
        CHECK(log.count(line, ucs::log::level::error) == 1);
    }
    test_job.notify();  // the group still serves
}

TEST_CASE_METHOD(refused, "moe in C: ranks that disagree all end with an error") {
    batch all = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_notify_args_t args = test_job.routing(rank);
        if (rank == 2) args.topk.dims[1] = 2;
        return args;
    });
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        CHECK(all.init_status(rank) == UCS_OK);
    all.start();
    all.finish();
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        const ucs_status_t end = ucg_request_test(all.request(rank));
        CHECK((end == UCS_ERR_INVALID_PARAM || end == UCS_ERR_MESSAGE_TRUNCATED));
    }
}

// Messages of other lengths or in other numbers than the other ranks expect.
TEST_CASE("moe in C: ranks whose low-latency results travel differently all end") {
    const test::log_capture log;
    const std::uint32_t flags = GENERATE(unsigned{UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10},
                                         unsigned{UCG_MOE_LOW_LATENCY_COMBINE_ZERO_COPY});
    job test_job(GENERATE(std::vector<std::string>{"a", "a", "a", "a"},
                          std::vector<std::string>{"a", "a", "b", "b"}));
    auto out = test_job.slotted_rows<float>();
    auto results = test_job.slotted_rows<std::uint16_t>();
    auto sums = test_job.token_rows<std::uint16_t>();
    test_job.fill_slots(out);
    batch back = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_low_latency_combine_args_t args = test_job.back(
            rank, results[rank].stack(job::local, UCG_TYPE_BF16), sums[rank].tensor(UCG_TYPE_BF16));
        args.flags = rank == 2 ? flags : 0;
        return args;
    });
    test_job.release_slots();
    back.start();
    back.finish();
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        const ucs_status_t end = ucg_request_test(back.request(rank));
        // Others may have had all they need before, from whose rows are of one expert.
        CHECK((end == UCS_ERR_MESSAGE_TRUNCATED || (rank != 2 && end == UCS_OK)));
    }
}

TEST_CASE("moe in C: a notify is started once, and has one handle") {
    const test::log_capture log;
    job test_job({"a", "a"});
    batch all = test_job.requests([&](std::uint32_t rank) { return test_job.routing(rank); });
    ucg_moe_handle_h none = nullptr;
    CHECK(ucg_moe_notify_handle(all.request(0), &none) == UCS_ERR_NO_ELEM);
    CHECK(ucg_request_set_buffers(all.request(0), nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    REQUIRE(all.run());
    CHECK(ucg_request_start(all.request(0)) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("moe_notify can be started once") == 1);
    test_job.take_handles(all);  // what it found out is still there
    CHECK(ucg_moe_notify_handle(all.request(0), &none) == UCS_ERR_NO_ELEM);
    ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
    REQUIRE(ucg_request_query(all.request(1), &attr) == UCS_OK);
    CHECK(std::string(attr.algorithm) == "moe_notify");
    CHECK(ucg_moe_notify_handle(nullptr, &none) == UCS_ERR_INVALID_PARAM);
    ucg_moe_slots_h slots = nullptr;
    CHECK(ucg_moe_low_latency_handle(all.request(0), &slots) == UCS_ERR_NO_ELEM);

    ucg_coll_args_t barrier = UCG_COLL_ARGS_INIT;
    ucg_request_h other = nullptr;
    REQUIRE(ucg_request_init(test_job.in.groups[0], &barrier, &other) == UCS_OK);
    CHECK(ucg_moe_notify_handle(other, &none) == UCS_ERR_NO_ELEM);
    CHECK(none == nullptr);
    CHECK(ucg_request_free(other) == UCS_OK);
}

TEST_CASE_METHOD(refused_later, "moe in C: a dispatch that is refused on one rank ends on all") {
    auto out = test_job.received_rows(), out_weights = test_job.received_rows(job::k);
    const auto args_of = [&](std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = test_job.dispatch(rank, out[rank].tensor());
        args.weights = test_job.weights[rank].tensor();
        args.out_weights = out_weights[rank].tensor();
        return args;
    };
    const auto with = [&](ucs_status_t wanted, const auto& spoil) {
        expect_refused(test_job, wanted, args_of, spoil);
    };
    using dispatch_args = ucg_moe_dispatch_args_t;
    refuse_tensors(with, {&dispatch_args::x, &dispatch_args::out_x, &dispatch_args::out_weights});
    const std::vector<std::pair<ucs_status_t, std::function<void(dispatch_args&)>>> wrong = {
        {UCS_ERR_BUFFER_TOO_SMALL, [](dispatch_args& args) { --args.x.dims[0]; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.x.data = nullptr; }},
        {UCS_ERR_INVALID_PARAM,
         [](dispatch_args& args) { args.x.data = static_cast<char*>(args.x.data) + 1; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.scales = args.x; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.weights = args.x; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.out_x.data = nullptr; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.out_x.dims[1] = 3; }},
        {UCS_ERR_INVALID_PARAM, [](dispatch_args& args) { args.out_x.type = UCG_TYPE_BF16; }},
        {UCS_ERR_UNSUPPORTED, [](dispatch_args& args) { args.flags = 2; }},
    };
    for (const auto& [status, spoil] : wrong)
        with(status, spoil);
    with(UCS_ERR_BUFFER_TOO_SMALL, [](auto& args) { --args.out_x.dims[0]; });
    table<std::int32_t> chosen(100, job::k);
    with(UCS_ERR_INVALID_PARAM, [&](auto& args) { args.out_topk = args.x; });
    with(UCS_ERR_INVALID_PARAM, [&](auto& args) {
        args.out_topk = chosen.tensor();
        args.out_topk.data = nullptr;
    });
    // An expansion of another notify.
    const std::vector<ucg_moe_handle_h> before = test_job.handles;
    test_job.notify();
    ucg_moe_expansion_h expansion = nullptr;
    REQUIRE(ucg_moe_expand(before[2], 1, &expansion) == UCS_OK);
    with(UCS_ERR_INVALID_PARAM, [&](auto& args) { args.expansion = expansion; });
    CHECK(log.count("the expansion is one of another handle") == 1);
    ucg_moe_expansion_release(expansion);
    for (const ucg_moe_handle_h each : before)
        ucg_moe_handle_release(each);

    // With the notify the init refuses them too: the request would otherwise fail at its start.
    const auto with_notify = [&](ucs_status_t wanted, std::uint32_t alignment, const auto& spoil) {
        notify_dispatch_args args{test_job.routing(2), args_of(2), alignment};
        spoil(args.dispatch);
        ucg_request_h request = nullptr;
        CHECK(test_job.init(2, args, &request) == wanted);
        CHECK(ucg_request_free(request) == UCS_OK);
    };
    with_notify(UCS_OK, 0, [](auto&) {});
    for (const auto& [status, spoil] : wrong)
        with_notify(status, 0, spoil);
    // With a row for each choice there is no output of chosen experts.
    for (const bool is_given : {false, true})
        with_notify(is_given ? UCS_ERR_INVALID_PARAM : UCS_OK, 4, [&](auto& args) {
            args.weights = UCG_MOE_TENSOR_INIT;
            args.out_weights = UCG_MOE_TENSOR_INIT;
            if (is_given) args.out_topk = chosen.tensor();
        });
}

TEST_CASE_METHOD(refused_later, "moe in C: a combine that is refused on one rank ends on all") {
    const auto with = [&](ucs_status_t wanted, const auto& spoil) {
        auto in = test_job.received_rows(), out = test_job.token_rows();
        const auto args_of = [&](std::uint32_t rank) {
            ucg_moe_combine_args_t args = combine_of(in[rank].tensor(), out[rank].tensor());
            args.bias[0] = test_job.x[rank].tensor();
            return args;
        };
        expect_refused(test_job, wanted, args_of, spoil, true);
    };
    for (const wrong_tensor& each : wrong_tensors()) {
        INFO(each.name);
        with(each.status, [&](auto& args) { each.spoil(args.x); });
        with(each.status, [&](auto& args) { each.spoil(args.out_x); });
        if (std::string(each.name) != "not there")
            with(each.status, [&](auto& args) { each.spoil(args.bias[0]); });
    }
    with(UCS_ERR_BUFFER_TOO_SMALL, [](auto& args) { --args.out_x.dims[0]; });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.x.type = UCG_TYPE_FP8_E4M3; });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) {
        args.x.strides[0] = std::int64_t{2 * sizeof(float)} * job::hidden;
        args.x.strides[1] = 2 * sizeof(float);
    });
    CHECK(log.count("the x has elements at distances of 8 bytes: give rows that are dense") == 1);
}

TEST_CASE_METHOD(refused, "moe in C: notify and dispatch into too little room end on all ranks") {
    std::vector<table<float>> out(test_job.ranks(), {1, job::hidden});
    ucg_moe_expansion_h expansion = nullptr;
    std::uint32_t alignment = 0;
    const auto args_of = [&](std::uint32_t rank) {
        return notify_dispatch_args{test_job.routing(rank),
                                    test_job.dispatch(rank, out[rank].tensor()), alignment};
    };
    batch all = test_job.requests(args_of);
    CHECK(all.run(UCS_ERR_BUFFER_TOO_SMALL));
    ucg_moe_handle_h none = nullptr;
    CHECK(ucg_moe_notify_handle(all.request(0), &none) == UCS_ERR_NO_ELEM);

    test_job.notify();
    CHECK(ucg_moe_expand(test_job.handles[0], 0, &expansion) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_expand(test_job.handles[0], 1U << 31U, &expansion) == UCS_ERR_EXCEEDS_LIMIT);
    REQUIRE(ucg_moe_expand(test_job.handles[2], 4, &expansion) == UCS_OK);
    alignment = 4;
    expect_refused(test_job, UCS_ERR_INVALID_PARAM, args_of,
                   [&](notify_dispatch_args& args) { args.dispatch.expansion = expansion; });
    ucg_moe_expansion_release(expansion);
    std::int32_t rows[job::local];
    ucg_moe_matrices_t matrices = UCG_MOE_MATRICES_INIT;
    matrices.alignment = UINT32_MAX;
    matrices.per_expert = rows;
    CHECK(ucg_moe_handle_matrices(test_job.handles[0], &matrices) == UCS_ERR_EXCEEDS_LIMIT);
}

TEST_CASE_METHOD(refused, "moe in C: low latency that is refused on one rank ends on all") {
    auto out = test_job.slotted_rows<float>();
    const auto with = [&](ucs_status_t wanted, const auto& spoil) {
        const auto args_of = [&](std::uint32_t rank) {
            return test_job.there(rank, out[rank].stack(job::local));
        };
        expect_refused(test_job, wanted, args_of, spoil);
    };
    using there_args = ucg_moe_low_latency_args_t;
    refuse_tensors(with, {&there_args::topk, &there_args::x, &there_args::out_x});
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.max_tokens = 0; });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { args.max_tokens = 3; });
    with(UCS_ERR_BUFFER_TOO_SMALL, [](auto& args) { --args.out_x.dims[1]; });
    with(UCS_ERR_INVALID_PARAM, [](auto& args) { --args.out_x.dims[0]; });
    with(UCS_ERR_INVALID_PARAM,
         [](auto& args) { args.scaling = static_cast<ucg_moe_scaling_t>(-3); });
    table<std::int64_t> twice(test_job.x[2].rows, job::k, -1);
    twice.at(1, 0) = twice.at(1, 2) = 2;
    with(UCS_ERR_INVALID_PARAM, [&](auto& args) { args.topk = twice.tensor(); });
    CHECK(log.count("token 1 chose expert 2 twice") == 1);

    test_job.fill_slots(out);
    auto sums = test_job.token_rows();
    const auto with_slots = [&](ucs_status_t wanted, const auto& spoil) {
        const auto args_of = [&](std::uint32_t rank) {
            return test_job.back(rank, out[rank].stack(job::local), sums[rank].tensor());
        };
        expect_refused(test_job, wanted, args_of, spoil, true);
    };
    using back_args = ucg_moe_low_latency_combine_args_t;
    refuse_tensors(with_slots, {&back_args::x, &back_args::weights, &back_args::out_x});
    // Flags that are unknown, or fit neither each other nor fp32.
    for (const auto& [flags, status] : {std::pair{4U, UCS_ERR_UNSUPPORTED},
                                        {3U, UCS_ERR_INVALID_PARAM},
                                        {1U, UCS_ERR_INVALID_PARAM}})
        with_slots(status, [with_flags = flags](auto& args) { args.flags = with_flags; });
    CHECK(log.count("the x that is compressed is of fp32: give bf16") == 1);
    CHECK(log.count("rows that are compressed are not sent from where they lie") == 1);
    ucg_moe_slots_attr_t attr = UCG_MOE_SLOTS_ATTR_INIT;
    CHECK(ucg_moe_slots_query(test_job.slots[0], &attr) == UCS_OK);
    CHECK(attr.counts != nullptr);
    attr = UCG_MOE_SLOTS_ATTR_INIT;
    attr.struct_size = 0;
    CHECK(ucg_moe_slots_query(test_job.slots[0], &attr) == UCS_ERR_INVALID_PARAM);
    CHECK(attr.counts == nullptr);
}

TEST_CASE("moe in C: casts to fp8 and layouts that are refused") {
    const test::log_capture log;
    table<float> x(3, 256), scales(3, 2);
    table<std::uint8_t> out(3, 256);
    const auto cast = [&](const std::function<void(ucg_moe_tensor_t(&all)[3])>& spoil,
                          ucg_moe_scaling_t scaling = UCG_MOE_SCALING_EXACT) {
        ucg_moe_tensor_t all[3] = {x.tensor(), out.tensor(UCG_TYPE_FP8_E4M3), scales.tensor()};
        spoil(all);
        return ucg_moe_cast_fp8(&all[0], scaling, &all[1], &all[2]);
    };
    CHECK(cast([](auto&) {}) == UCS_OK);
    for (const wrong_tensor& each : wrong_tensors()) {
        INFO(each.name);
        for (unsigned which = 0; which < 3; ++which) {
            const ucs_status_t status = cast([&](auto& all) { each.spoil(all[which]); });
            CHECK(status == each.status);
        }
    }
    CHECK(cast([](auto& all) { all[0].dims[1] = 200; }) == UCS_ERR_INVALID_PARAM);
    CHECK(cast([](auto& all) { all[1].dims[0] = 2; }) == UCS_ERR_BUFFER_TOO_SMALL);
    CHECK(cast([](auto& all) { all[2].dims[0] = 2; }) == UCS_ERR_BUFFER_TOO_SMALL);
    CHECK(cast([](auto&) {}, UCG_MOE_SCALING_EXPONENT) == UCS_ERR_INVALID_PARAM);
    CHECK(cast([](auto&) {}, static_cast<ucg_moe_scaling_t>(3)) == UCS_ERR_INVALID_PARAM);

    job test_job({"a", "a"});
    ucg_moe_layout_t layout = UCG_MOE_LAYOUT_INIT;
    for (const wrong_tensor& each : wrong_tensors()) {
        INFO(each.name);
        ucg_moe_tensor_t topk = test_job.topk(0);
        each.spoil(topk);
        CHECK(ucg_moe_get_layout(test_job.teams[0], &topk, &layout) == each.status);
    }
    const ucg_moe_tensor_t topk = test_job.topk(0);
    CHECK(ucg_moe_get_layout(test_job.teams[0], &topk, &layout) == UCS_OK);
    CHECK(ucg_moe_get_layout(test_job.teams[0], &topk, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_get_layout(nullptr, &topk, &layout) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("moe in C: without arguments or handles there is no request") {
    const test::log_capture log;
    job test_job({"a"});
    test_job.notify();
    const auto none = [](ucs_status_t status, const ucg_request_h& request) {
        CHECK(status == UCS_ERR_INVALID_PARAM);
        CHECK(request == nullptr);
    };
    ucg_request_h request = nullptr;
    const ucg_moe_notify_args_t notify = test_job.routing(0);
    const ucg_moe_dispatch_args_t dispatch = UCG_MOE_DISPATCH_ARGS_INIT;
    none(ucg_moe_notify_init(test_job.teams[0], nullptr, &request), request);
    none(ucg_moe_notify_init(nullptr, &notify, &request), request);
    CHECK(ucg_moe_notify_init(test_job.teams[0], &notify, nullptr) == UCS_ERR_INVALID_PARAM);
    ucg_moe_notify_args_t unset = notify;
    unset.struct_size = 0;
    none(ucg_moe_notify_init(test_job.teams[0], &unset, &request), request);
    none(ucg_moe_notify_dispatch_init(test_job.teams[0], &notify, nullptr, 0, &request), request);
    none(ucg_moe_notify_dispatch_init(test_job.teams[0], nullptr, &dispatch, 0, &request), request);
    none(ucg_moe_dispatch_init(test_job.handles[0], nullptr, &request), request);
    none(ucg_moe_dispatch_init(nullptr, &dispatch, &request), request);
    none(ucg_moe_combine_init(test_job.handles[0], nullptr, &request), request);
    none(ucg_moe_low_latency_dispatch_init(test_job.teams[0], nullptr, &request), request);
    none(ucg_moe_low_latency_combine_init(nullptr, nullptr, &request), request);
    CHECK(ucg_moe_handle_query(test_job.handles[0], nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_expand(nullptr, 1, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_expansion_query(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_slots_query(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_moe_handle_matrices(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);

    // Uninitialised structs stay as they are.
    ucg_moe_handle_attr_t no_attr = UCG_MOE_HANDLE_ATTR_INIT;
    no_attr.struct_size = 0;
    no_attr.k = 77;
    CHECK(ucg_moe_handle_query(test_job.handles[0], &no_attr) == UCS_ERR_INVALID_PARAM);
    CHECK(no_attr.k == 77);
    ucg_moe_expansion_h expansion = nullptr;
    REQUIRE(ucg_moe_expand(test_job.handles[0], 1, &expansion) == UCS_OK);
    ucg_moe_expansion_attr_t no_rows = UCG_MOE_EXPANSION_ATTR_INIT;
    no_rows.struct_size = 0;
    no_rows.rows = 77;
    CHECK(ucg_moe_expansion_query(expansion, &no_rows) == UCS_ERR_INVALID_PARAM);
    CHECK(no_rows.rows == 77);
    ucg_moe_expansion_release(expansion);
    CHECK(log.count("attr was not initialised by the macro of its type") == 2);

    // An older program has a shorter struct.
    ucg_moe_handle_attr_t attr = UCG_MOE_HANDLE_ATTR_INIT;
    attr.struct_size = offsetof(ucg_moe_handle_attr_t, k);
    attr.k = 77;
    CHECK(ucg_moe_handle_query(test_job.handles[0], &attr) == UCS_OK);
    CHECK(attr.tokens == test_job.x[0].rows);
    CHECK(attr.k == 77);
}

TEST_CASE_METHOD(refused_later, "moe in C: tensors of one call that overlap") {
    constexpr std::uint32_t me = 2;
    const std::uint64_t tokens = test_job.x[me].rows;
    const std::uint64_t rows = test_job.attr(me).rows;
    REQUIRE(tokens > 1);
    REQUIRE(rows > 1);
    const auto shaped = [](ucg_type_t type, std::uint64_t r, std::uint64_t c) {
        return tensor_of(nullptr, type, r, c);
    };
    const auto stacked = [&](ucg_type_t type, std::uint64_t r, std::uint64_t c) {
        return stack_of(shaped(type, r, c), job::local);
    };
    ucg_moe_dispatch_args_t there = UCG_MOE_DISPATCH_ARGS_INIT;
    there.x = shaped(UCG_TYPE_FP8_E4M3, tokens, job::hidden);
    there.scales = shaped(UCG_TYPE_FP32, tokens, 1);
    there.weights = shaped(UCG_TYPE_FP32, tokens, job::k);
    there.out_x = shaped(UCG_TYPE_FP8_E4M3, rows, job::hidden);
    there.out_scales = shaped(UCG_TYPE_FP32, rows, 1);
    there.out_weights = shaped(UCG_TYPE_FP32, rows, job::k);
    there.out_topk = shaped(UCG_TYPE_INT32, rows, job::k);
    const std::vector<named> all_there = {
        {"x", &there.x, false},
        {"scales", &there.scales, false},
        {"weights", &there.weights, false},
        {"output", &there.out_x, true},
        {"scales of the output", &there.out_scales, true},
        {"weights of the output", &there.out_weights, true},
        {"chosen experts of the output", &there.out_topk, true},
    };
    SECTION("dispatch") {
        expect_apart(log, "dispatch", all_there,
                     [&](ucg_request_h* request_p) { return test_job.init(me, there, request_p); });
    }
    SECTION("notify and dispatch") {
        expect_apart(log, "dispatch", all_there, [&](ucg_request_h* request_p) {
            return test_job.init(me, notify_dispatch_args{test_job.routing(me), there}, request_p);
        });
    }
    SECTION("combine") {
        ucg_moe_combine_args_t back = UCG_MOE_COMBINE_ARGS_INIT;
        back.x = shaped(UCG_TYPE_FP32, rows, job::hidden);
        back.weights = shaped(UCG_TYPE_FP32, rows, job::k);
        back.bias[0] = back.bias[1] = shaped(UCG_TYPE_FP32, tokens, job::hidden);
        back.out_x = shaped(UCG_TYPE_FP32, tokens, job::hidden);
        back.out_weights = shaped(UCG_TYPE_FP32, tokens, job::k);
        expect_apart(log, "combine",
                     {{"x", &back.x, false},
                      {"weights", &back.weights, false},
                      {"bias", &back.bias[0], false},
                      {"bias", &back.bias[1], false},
                      {"output", &back.out_x, true},
                      {"weights of the output", &back.out_weights, true}},
                     [&](ucg_request_h* request_p) { return test_job.init(me, back, request_p); });
    }
    const std::uint64_t capacity = test_job.capacity();
    SECTION("low-latency dispatch") {
        ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
        args.max_tokens = job::most;
        args.topk = test_job.topk(me);
        args.x = shaped(UCG_TYPE_FP32, tokens, job::hidden);
        args.out_x = stacked(UCG_TYPE_FP32, capacity, job::hidden);
        args.out_tokens = shaped(UCG_TYPE_INT32, job::local, capacity);
        std::vector<named> all = {{"x", &args.x, false},
                                  {"output", &args.out_x, true},
                                  {"tokens of the output", &args.out_tokens, true}};
        const auto init = [&](ucg_request_h* request_p) {
            return test_job.init(me, args, request_p);
        };
        expect_apart(log, "low-latency dispatch", all, init);
        args.cast = 1;
        args.out_x.type = UCG_TYPE_FP8_E4M3;
        args.out_scales = stacked(UCG_TYPE_FP32, capacity, 1);
        all.insert(all.end() - 1, {"scales of the output", &args.out_scales, true});
        expect_apart(log, "low-latency dispatch", all, init);
    }
    SECTION("low-latency combine") {
        auto out = test_job.slotted_rows<float>();
        test_job.fill_slots(out);
        ucg_moe_low_latency_combine_args_t args = UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT;
        args.x = stacked(UCG_TYPE_FP32, capacity, job::hidden);
        args.weights = shaped(UCG_TYPE_FP32, tokens, job::k);
        args.out_x = shaped(UCG_TYPE_FP32, tokens, job::hidden);
        expect_apart(log, "low-latency combine",
                     {{"x", &args.x, false},
                      {"weights", &args.weights, false},
                      {"output", &args.out_x, true}},
                     [&](ucg_request_h* request_p) { return test_job.init(me, args, request_p); });
    }
    SECTION("a cast") {
        table<float> x(3, 256), scales(3, 2);
        ucg_moe_tensor_t from = x.tensor(), factors = scales.tensor();
        ucg_moe_tensor_t into = shaped(UCG_TYPE_FP8_E4M3, 3, 256);
        into.data = x.all.data();
        CHECK(ucg_moe_cast_fp8(&from, UCG_MOE_SCALING_EXACT, &into, &factors) ==
              UCS_ERR_INVALID_PARAM);
        CHECK(log.count("ucg_moe_cast_fp8: the x and the output overlap") == 1);
    }
}

TEST_CASE_METHOD(refused_later, "moe in C: tensors with rows in each other's gaps are apart") {
    // Columns of one table: a token on the left, what comes on the right, its weights behind it.
    constexpr std::uint64_t width = 2 * job::hidden + job::k;
    std::vector<table<float>> both;
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        both.emplace_back(std::max<std::uint64_t>(test_job.attr(rank).rows, test_job.x[rank].rows),
                          width);
        for (std::uint64_t t = 0; t < test_job.x[rank].rows; ++t)
            std::copy_n(&test_job.x[rank].at(t, 0), job::hidden, &both[rank].at(t, 0));
    }
    const auto columns = [&](std::uint32_t rank, std::uint64_t from, std::uint64_t rows,
                             std::uint64_t count) {
        ucg_moe_tensor_t made = both[rank].tensor();
        made.data = both[rank].all.data() + from;
        made.dims[0] = rows;
        made.dims[1] = count;
        made.strides[0] = width * sizeof(float);
        made.strides[1] = sizeof(float);
        return made;
    };
    const auto args_of = [&](std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = UCG_MOE_DISPATCH_ARGS_INIT;
        args.x = columns(rank, 0, test_job.x[rank].rows, job::hidden);
        args.out_x = columns(rank, job::hidden, test_job.attr(rank).rows, job::hidden);
        args.weights = test_job.weights[rank].tensor();
        args.out_weights = columns(rank, 2 * job::hidden, test_job.attr(rank).rows, job::k);
        return args;
    };
    batch all = test_job.requests(args_of);
    REQUIRE(all.run());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        const std::vector<row> came = test_job.gates.rows_of(rank);
        for (std::uint64_t i = 0; i < came.size(); ++i)
            CHECK(std::equal(&both[rank].at(i, job::hidden),
                             &both[rank].at(i, job::hidden) + job::hidden,
                             &test_job.x[came[i].source].at(came[i].token, 0)));
    }

    // One column too far to the left, and one that goes round into the next row.
    expect_refused(test_job, UCS_ERR_INVALID_PARAM, args_of,
                   [](auto& args) { args.out_x.data = static_cast<float*>(args.out_x.data) - 1; });
    CHECK(log.count("dispatch: the x and the output overlap") == 1);
    expect_refused(test_job, UCS_ERR_INVALID_PARAM, args_of, [](auto& args) {
        args.out_weights.data = static_cast<float*>(args.out_weights.data) + 1;
    });
    CHECK(log.count("dispatch: the x and the weights of the output overlap") == 1);
}
