// Tests of MoE through the C interface against plain loops, over shared memory, messages, and both.
#include <bit>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/moe_moved.hpp"

using namespace test::moe;

namespace {

using names = std::vector<std::string>;

names some_nodes() {
    return GENERATE(names{"a"}, names{"a", "a", "a"}, names{"a", "a", "b", "b"},
                    names{"a", "b", "c"}, names{"a", "b", "a", "c", "b", "a"});
}

// One row for each choice: the received data, and the results of the experts.
void check_expanded_and_work(job& test_job, moved& data, std::uint32_t rank,
                             ucg_moe_expansion_h expansion, std::uint32_t alignment,
                             bool zero_padding) {
    ucg_moe_expansion_attr_t attr = UCG_MOE_EXPANSION_ATTR_INIT;
    REQUIRE(ucg_moe_expansion_query(expansion, &attr) == UCS_OK);
    const std::vector<std::uint32_t> begins = test_job.gates.begins(rank, alignment);
    REQUIRE(std::equal(begins.begin(), begins.end(), attr.begins));
    REQUIRE(attr.rows == begins.back());
    std::vector<std::uint32_t> counts(job::local);
    for (const expanded_row& each : test_job.gates.expanded_rows(rank)) {
        const auto [source, token] = each.token;
        const std::uint32_t index = begins[each.expert] + each.place;
        REQUIRE(attr.row_of[each.received * job::k + each.choice] == index);
        REQUIRE(data.out_weights[rank].at(index, 0) ==
                test_job.weights[source].at(token, each.choice));
        for (std::uint32_t h = 0; h < job::hidden; ++h) {
            REQUIRE(data.out[rank].at(index, h) == test_job.x[source].at(token, h));
            data.out[rank].at(index, h) *= static_cast<float>(rank * job::local + each.expert + 1);
        }
        ++counts[each.expert];
    }
    for (std::uint32_t e = 0; e < job::local; ++e) {
        REQUIRE(attr.counts[e] == counts[e]);
        for (std::uint32_t index = begins[e] + counts[e]; zero_padding && index < begins[e + 1];
             ++index)
            REQUIRE(data.out[rank].at(index, 5) == 0);
    }
}

}  // namespace

TEST_CASE("moe in C: layout and handle are those of the choices") {
    job test_job(some_nodes());
    test_job.flags = UCG_MOE_NOTIFY_ALL_COUNTS | UCG_MOE_NOTIFY_HOLDERS;
    test_job.notify();
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        ucg_group_attr_t place = UCG_GROUP_ATTR_INIT;
        REQUIRE(ucg_group_query(test_job.in.groups[rank], &place) == UCS_OK);
        const std::uint64_t tokens = test_job.x[rank].rows;
        std::vector<std::int32_t> per_rank(test_job.ranks()), per_node(place.nodes),
            per_expert(test_job.experts());
        std::vector<std::uint8_t> in_rank(tokens * test_job.ranks());
        ucg_moe_layout_t layout = UCG_MOE_LAYOUT_INIT;
        layout.per_rank = per_rank.data();
        layout.per_node = per_node.data();
        layout.per_expert = per_expert.data();
        layout.in_rank = in_rank.data();
        const ucg_moe_tensor_t topk = test_job.topk(rank);
        REQUIRE(ucg_moe_get_layout(test_job.teams[rank], &topk, &layout) == UCS_OK);
        std::vector<std::int32_t> ranks_wanted(test_job.ranks()),
            experts_wanted(test_job.experts());
        for (std::uint64_t t = 0; t < tokens; ++t) {
            for (std::uint32_t to = 0; to < test_job.ranks(); ++to) {
                CHECK((in_rank[t * test_job.ranks() + to] != 0) == test_job.goes(rank, t, to));
                ranks_wanted[to] += test_job.goes(rank, t, to) ? 1 : 0;
            }
            for (std::uint32_t j = 0; j < job::k; ++j)
                if (test_job.gates.living_choice(rank, t, j) >= 0)
                    ++experts_wanted[static_cast<std::size_t>(
                        test_job.gates.living_choice(rank, t, j))];
        }
        CHECK(per_rank == ranks_wanted);
        CHECK(per_expert == experts_wanted);

        const ucg_moe_handle_attr_t attr = test_job.attr(rank);
        const auto wanted = test_job.gates.rows_of(rank);
        CHECK(attr.tokens == tokens);
        CHECK(attr.k == job::k);
        CHECK(attr.channels == 3);
        CHECK(attr.local_experts == job::local);
        REQUIRE(attr.rows == wanted.size());
        std::vector<std::uint32_t> counts(job::local);
        for (std::uint64_t row = 0; row < wanted.size(); ++row) {
            CHECK(attr.origins[2 * row] == wanted[row].source);
            CHECK(attr.origins[2 * row + 1] == wanted[row].token);
            for (std::uint32_t j = 0; j < job::k; ++j) {
                const std::int64_t e = test_job.gates.choice_at(rank, wanted[row], j);
                CHECK(attr.chosen[row * job::k + j] == e);
                if (e >= 0) ++counts[static_cast<std::size_t>(e)];
            }
        }
        CHECK(std::equal(counts.begin(), counts.end(), attr.per_expert));

        std::vector<std::int32_t> to_node(place.nodes * 3), to_rank(test_job.ranks() * 3),
            relayed(place.nodes), by_channel(place.nodes * 3), received(test_job.ranks()),
            begins(test_job.ranks() * 3), send_place(tokens * place.nodes),
            relay_place(std::size_t{attr.relayed_rows} * place.node_size), rounded(job::local),
            rank_place(tokens * test_job.ranks()), before(test_job.ranks() * 3),
            by_all(test_job.ranks() * test_job.ranks()), source_token(attr.rows),
            source_node(attr.rows), holders(attr.rows * place.node_size);
        ucg_moe_matrices_t all = UCG_MOE_MATRICES_INIT;
        all.alignment = 16;
        all.sent_to_node = to_node.data();
        all.sent_to_rank = to_rank.data();
        all.relayed = relayed.data();
        all.relayed_by_channel = by_channel.data();
        all.received = received.data();
        all.received_begin = begins.data();
        all.send_place = send_place.data();
        all.relay_place = relay_place.data();
        all.per_expert = rounded.data();
        all.rank_place = rank_place.data();
        all.received_before = before.data();
        all.received_by_all = by_all.data();
        all.source_token = source_token.data();
        all.source_node = source_node.data();
        all.holders = holders.data();
        REQUIRE(ucg_moe_handle_matrices(test_job.handles[rank], &all) == UCS_OK);
        std::int32_t sum = 0;
        for (std::uint32_t node = 0; node < place.nodes; ++node) {
            CHECK(to_node[node * 3 + 2] == per_node[node]);
            sum += by_channel[node * 3 + 2];
            CHECK(relayed[node] == sum);
            std::int32_t sent = 0;
            for (std::uint64_t t = 0; t < tokens; ++t)
                sent += send_place[t * place.nodes + node] >= 0 ? 1 : 0;
            CHECK(sent == per_node[node]);
        }
        CHECK(attr.relayed_rows == static_cast<std::uint32_t>(sum));
        for (std::uint32_t other = 0; other < test_job.ranks(); ++other) {
            CHECK(to_rank[other * 3 + 2] == per_rank[other]);
            CHECK(begins[other * 3] == (other == 0 ? 0 : received[other - 1]));
            for (std::uint32_t c = 0; c < 3; ++c)
                CHECK(before[other * 3 + c] == begins[other * 3 + c] - begins[other * 3]);
            for (std::uint64_t t = 0; t < tokens; ++t)
                CHECK((rank_place[t * test_job.ranks() + other] >= 0) ==
                      test_job.goes(rank, t, other));
            std::int32_t came = 0;
            for (std::uint32_t source = 0; source < test_job.ranks(); ++source) {
                for (std::uint64_t t = 0; t < test_job.x[source].rows; ++t)
                    came += test_job.goes(source, t, other) ? 1 : 0;
                CHECK(by_all[source * test_job.ranks() + other] == came);
            }
        }
        for (std::uint64_t row = 0; row < wanted.size(); ++row) {
            CHECK(source_token[row] == static_cast<std::int32_t>(wanted[row].token));
            ucg_group_attr_t source = UCG_GROUP_ATTR_INIT;
            REQUIRE(ucg_group_query(test_job.in.groups[wanted[row].source], &source) == UCS_OK);
            CHECK(source_node[row] == static_cast<std::int32_t>(source.node));
            for (std::uint32_t other = 0; other < test_job.ranks(); ++other) {
                ucg_group_attr_t there = UCG_GROUP_ATTR_INIT;
                REQUIRE(ucg_group_query(test_job.in.groups[other], &there) == UCS_OK);
                if (there.node != place.node) continue;
                CHECK((holders[row * place.node_size + there.node_rank] != 0) ==
                      test_job.goes(wanted[row].source, wanted[row].token, other));
            }
        }
        CHECK(received.back() == static_cast<std::int32_t>(attr.rows));
        for (std::uint32_t e = 0; e < job::local; ++e)
            CHECK(rounded[e] == static_cast<std::int32_t>((counts[e] + 15) / 16 * 16));
        CHECK(ucg_moe_max_rows(test_job.teams[rank], job::k, 10, 0) == 10 * test_job.ranks());
    }
}

TEST_CASE("moe in C: matrices that notify was not asked for are refused") {
    const test::log_capture log;
    job test_job({"a", "a", "b"});
    test_job.flags = GENERATE(0U, 1U, 2U);
    test_job.notify();
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        const auto query = [&](auto with) {
            std::vector<std::int32_t> received(test_job.ranks(), -7), more(1000);
            ucg_moe_matrices_t all = UCG_MOE_MATRICES_INIT;
            all.received = received.data();
            with(all, more.data());
            const ucs_status_t status = ucg_moe_handle_matrices(test_job.handles[rank], &all);
            CHECK((received[0] == -7) == (status != UCS_OK));  // all or nothing
            return status;
        };
        CHECK(query([](auto& all, std::int32_t* more) { all.received_by_all = more; }) ==
              ((test_job.flags & UCG_MOE_NOTIFY_ALL_COUNTS) != 0 ? UCS_OK : UCS_ERR_NO_ELEM));
        CHECK(query([](auto& all, std::int32_t* more) { all.holders = more; }) ==
              ((test_job.flags & UCG_MOE_NOTIFY_HOLDERS) != 0 ? UCS_OK : UCS_ERR_NO_ELEM));
        // A program that was built before these members existed.
        CHECK(query([](auto& all, std::int32_t* more) {
                  all.struct_size = offsetof(ucg_moe_matrices_t, rank_place);
                  all.holders = more;
              }) == UCS_OK);
    }
}

TEST_CASE("moe in C: tokens go and come back, again, after handle and team are gone") {
    job test_job(some_nodes());
    test_job.route = GENERATE(UCG_MOE_ROUTE_CHOOSE, UCG_MOE_ROUTE_DIRECT, UCG_MOE_ROUTE_RELAYED);
    run_flat(test_job);
}

TEST_CASE("moe in C: masked ranks get nothing and are not waited for") {
    job test_job({"a", "a", "b", "b", "b"}, {0, 0, 0, 1, 0});
    run_flat(test_job);
}

TEST_CASE("moe in C: a row for each choice") {
    job test_job(some_nodes());
    const std::uint32_t alignment = GENERATE(1U, 4U);
    test_job.notify();
    moved data(test_job);
    std::vector<ucg_moe_expansion_h> expansions(test_job.ranks());
    data.make_room(
        test_job,
        [&](std::uint32_t rank) {
            REQUIRE(ucg_moe_expand(test_job.handles[rank], alignment, &expansions[rank]) == UCS_OK);
            ucg_moe_expansion_attr_t attr = UCG_MOE_EXPANSION_ATTR_INIT;
            REQUIRE(ucg_moe_expansion_query(expansions[rank], &attr) == UCS_OK);
            return attr.rows;
        },
        1);
    batch there = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = data.dispatch(test_job, rank);
        args.flags = UCG_MOE_DISPATCH_ZERO_PADDING;
        args.expansion = expansions[rank];
        return args;
    });
    batch back =
        test_job.requests([&](std::uint32_t rank) { return data.combine(rank, expansions[rank]); });
    REQUIRE(there.run());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        check_expanded_and_work(test_job, data, rank, expansions[rank], alignment, true);
        ucg_moe_expansion_release(expansions[rank]);
    }
    REQUIRE(back.run());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        data.check_sums(test_job, rank);
}

TEST_CASE("moe in C: notify and dispatch as one") {
    const test::log_capture log;
    job test_job(some_nodes());
    const std::uint32_t alignment = GENERATE(0U, 4U);
    moved data(test_job);
    data.make_room(
        test_job,
        [&](std::uint32_t rank) {
            return ucg_moe_max_rows(test_job.teams[rank], job::k, 9, alignment);
        },
        alignment == 0 ? job::k : 1);
    batch there = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = data.dispatch(test_job, rank);
        if (alignment == 0) args.out_topk = data.out_topk[rank].tensor();
        return notify_dispatch_args{test_job.routing(rank), args, alignment};
    });
    ucg_moe_handle_h none = nullptr;
    CHECK(ucg_moe_notify_handle(there.request(0), &none) == UCS_ERR_NO_ELEM);
    REQUIRE(there.run());
    test_job.take_handles(there);
    CHECK(ucg_request_start(there.request(0)) == UCS_ERR_INVALID_PARAM);
    std::vector<ucg_moe_expansion_h> expansions(test_job.ranks());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        if (alignment == 0) {
            data.check_rows_and_work(test_job, rank);
            continue;
        }
        REQUIRE(ucg_moe_expand(test_job.handles[rank], alignment, &expansions[rank]) == UCS_OK);
        check_expanded_and_work(test_job, data, rank, expansions[rank], alignment, false);
    }
    batch back =
        test_job.requests([&](std::uint32_t rank) { return data.combine(rank, expansions[rank]); });
    for (const ucg_moe_expansion_h each : expansions)
        ucg_moe_expansion_release(each);
    REQUIRE(back.run());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        data.check_sums(test_job, rank);
}

TEST_CASE("moe in C: low latency goes and comes back, again") {
    const test::log_capture log;
    const bool some_masked = GENERATE(false, true);
    job test_job(some_masked ? names{"a", "a", "b", "b"} : some_nodes(),
                 some_masked ? std::vector<std::uint8_t>{0, 0, 1, 0} : std::vector<std::uint8_t>{});
    const std::uint64_t capacity = test_job.capacity();
    auto out = test_job.slotted_rows<float>();
    std::vector<table<std::int32_t>> tokens(test_job.ranks(), {job::local, capacity});
    batch there = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_low_latency_args_t args = test_job.there(rank, out[rank].stack(job::local));
        args.out_tokens = tokens[rank].tensor();
        return args;
    });
    ucg_moe_slots_h none = nullptr;
    CHECK(ucg_moe_low_latency_handle(there.request(0), &none) == UCS_ERR_NO_ELEM);
    for (unsigned start = 0; start < 3; ++start) {
        for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
            for (float& number : test_job.x[rank].all)
                number += static_cast<float>(start);
            std::ranges::fill(out[rank].all, -9.0F);
            std::ranges::fill(tokens[rank].all, -9);
        }
        REQUIRE(there.run());
        test_job.take_slots(there);
        for (const std::uint32_t rank : test_job.gates.living()) {
            ucg_moe_slots_attr_t attr = UCG_MOE_SLOTS_ATTR_INIT;
            REQUIRE(ucg_moe_slots_query(test_job.slots[rank], &attr) == UCS_OK);
            for (const expanded_row& each : test_job.gates.expanded_rows(rank)) {
                const auto [source, token] = each.token;
                REQUIRE(tokens[rank].at(each.expert, each.place) ==
                        static_cast<std::int32_t>(token));
                for (std::uint32_t h = 0; h < job::hidden; ++h) {
                    float& number = out[rank].at(each.expert * capacity + each.place, h);
                    REQUIRE(number == test_job.x[source].at(token, h));
                    number *= static_cast<float>(rank * job::local + each.expert + 1);
                }
            }
            const std::vector<std::uint32_t> counts = test_job.gates.counts_by_source(rank);
            for (std::uint32_t e = 0; e < job::local; ++e) {
                std::uint32_t row = 0;
                for (std::uint32_t source = 0; source < test_job.ranks(); ++source) {
                    const ucg_moe_range_t range = attr.ranges[e * test_job.ranks() + source];
                    REQUIRE(range.begin == row);
                    REQUIRE(range.count == counts[e * test_job.ranks() + source]);
                    row += range.count;
                }
                REQUIRE(attr.counts[e] == row);
            }
        }
        auto sums = test_job.token_rows();
        batch back = test_job.requests([&](std::uint32_t rank) {
            return test_job.back(rank, out[rank].stack(job::local), sums[rank].tensor());
        });
        test_job.release_slots();
        for (unsigned again = 0; again < 2; ++again) {
            for (auto& each : sums)
                std::ranges::fill(each.all, -9.0F);
            if (again != 0) {  // other results of the experts, in the same memory
                for (auto& each : out)
                    for (float& number : each.all)
                        number *= 2;
            }
            REQUIRE(back.run());
            for (const std::uint32_t rank : test_job.gates.living())
                for (std::uint64_t t = 0; t < test_job.x[rank].rows; ++t)
                    for (std::uint32_t h = 0; h < job::hidden; ++h)
                        REQUIRE(sums[rank].at(t, h) ==
                                static_cast<float>(again + 1) * test_job.result(rank, t, h, true));
        }
    }
}

// Each expert makes rows of one magnitude, which are exact in LogFMT.
TEST_CASE("moe in C: low latency comes back in the way that flags say") {
    const std::uint32_t flags = GENERATE(0U, unsigned{UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10},
                                         unsigned{UCG_MOE_LOW_LATENCY_COMBINE_ZERO_COPY});
    job test_job(some_nodes());
    const std::uint64_t capacity = test_job.capacity();
    const auto bf16 = [](float value) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
    };
    auto out = test_job.slotted_rows<float>();
    auto results = test_job.slotted_rows<std::uint16_t>();
    auto sums = test_job.token_rows<std::uint16_t>(job::hidden, 77);
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        for (std::uint64_t row = 0; row < job::local * capacity; ++row)
            for (std::uint32_t h = 0; h < job::hidden; ++h) {
                const auto e = static_cast<float>(rank * job::local + row / capacity + 1);
                results[rank].at(row, h) = bf16(h % 3 == 0 ? -e : e);
            }
    test_job.fill_slots(out);
    batch back = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_low_latency_combine_args_t args = test_job.back(
            rank, results[rank].stack(job::local, UCG_TYPE_BF16), sums[rank].tensor(UCG_TYPE_BF16));
        args.flags = flags;
        return args;
    });
    test_job.release_slots();
    REQUIRE(back.run());
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank)
        for (std::uint64_t t = 0; t < test_job.x[rank].rows; ++t)
            for (std::uint32_t h = 0; h < job::hidden; ++h) {
                float wanted = 0;
                for (std::uint32_t j = 0; j < job::k; ++j)
                    if (const std::int64_t e = test_job.gates.living_choice(rank, t, j); e >= 0)
                        wanted += static_cast<float>(e + 1) * test_job.weights[rank].at(t, j);
                REQUIRE(sums[rank].at(t, h) == bf16(h % 3 == 0 && wanted != 0 ? -wanted : wanted));
            }
}

TEST_CASE("moe in C: low latency casts as ucg_moe_cast_fp8 does") {
    job test_job({"a", "a", "b"});
    const auto scaling = GENERATE(UCG_MOE_SCALING_EXACT, UCG_MOE_SCALING_EXPONENT);
    const ucg_type_t scale_type = scaling == UCG_MOE_SCALING_EXACT ? UCG_TYPE_FP32 : UCG_TYPE_UINT8;
    const std::uint64_t size = ucg_type_size(scale_type);
    const std::uint64_t capacity = test_job.capacity();
    auto out = test_job.slotted_rows<std::uint8_t>();
    std::vector<table<float>> scales(test_job.ranks(), {job::local * capacity, 1});
    batch there = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_low_latency_args_t args =
            test_job.there(rank, out[rank].stack(job::local, UCG_TYPE_FP8_E4M3));
        args.cast = 1;
        args.scaling = scaling;
        args.out_scales = scales[rank].stack(job::local, scale_type);
        return args;
    });
    REQUIRE(there.run());
    std::vector<table<std::uint8_t>> casts;
    std::vector<table<float>> cast_scales;
    for (table<float>& each : test_job.x) {
        const ucg_moe_tensor_t x = each.tensor();
        ucg_moe_tensor_t into =
            casts.emplace_back(each.rows, job::hidden).tensor(UCG_TYPE_FP8_E4M3);
        ucg_moe_tensor_t factors = cast_scales.emplace_back(each.rows, 1).tensor(scale_type);
        REQUIRE(ucg_moe_cast_fp8(&x, scaling, &into, &factors) == UCS_OK);
    }
    std::uint64_t compared = 0;
    for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
        const auto* const found = reinterpret_cast<const std::byte*>(scales[rank].all.data());
        for (const expanded_row& each : test_job.gates.expanded_rows(rank)) {
            const auto [source, token] = each.token;
            const std::uint64_t index = each.expert * capacity + each.place;
            const std::uint8_t* const cast = &casts[source].at(token, 0);
            REQUIRE(std::equal(cast, cast + job::hidden, &out[rank].at(index, 0)));
            const auto* const wanted =
                reinterpret_cast<const std::byte*>(cast_scales[source].all.data());
            REQUIRE(std::equal(wanted + token * size, wanted + (token + 1) * size,
                               found + index * size));
            ++compared;
        }
    }
    CHECK(compared > 20);
}
