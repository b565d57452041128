// Tests that layouts and contents agree: a collective that the test performs between ranks of one
// process gives the expected output, and any change of one element is detected.
#include "ucg/reference/content.hpp"

#include <catch2/catch.hpp>
#include <deque>

#include "test/support/collective_memory.hpp"

using namespace ucg;
using namespace ucg::reference;
using schedule::collective;

namespace {

const elements int32_sum{UCG_TYPE_INT32, UCG_OP_SUM, 4, {}};
constexpr std::uint64_t round_number = 7;

struct rank_memory {
    layout rank_layout;
    std::vector<std::int32_t> source, target;

    [[nodiscard]] const std::int32_t* input() const {
        return rank_layout.input_in_target ? target.data() : source.data();
    }
};

// Performs the collective element by element, as the documentation of ucg_coll_args_t describes it.
class manual_exchange {
public:
    explicit manual_exchange(const problem& wanted)
        : wanted_(wanted), kind_(traits_of(wanted.kind)) {
        for (rank_t rank = 0; rank < wanted.ranks; ++rank) {
            rank_memory& made = all_.emplace_back();
            made.rank_layout = make_layout(wanted, rank);
            made.source.resize(made.rank_layout.source_elements);
            made.target.resize(made.rank_layout.target_elements);
            content(made.rank_layout, int32_sum, rank, wanted.ranks)
                .write(made.source.data(), made.target.data(), round_number);
        }
    }

    void exchange() {
        std::vector<rank_memory> before = all_;
        for (rank_t to = 0; to < wanted_.ranks; ++to)
            for (rank_t from = 0; from < wanted_.ranks; ++from)
                move(before[from], from, all_[to], to);
    }

    std::vector<rank_memory>& all() { return all_; }

private:
    [[nodiscard]] std::uint64_t count_of(const std::vector<std::uint64_t>& counts,
                                         rank_t which) const {
        return counts.empty() ? wanted_.count : counts[which];
    }
    [[nodiscard]] std::uint64_t begin_of(const std::vector<std::uint64_t>& offsets,
                                         rank_t which) const {
        return offsets.empty() ? wanted_.count * which : offsets[which];
    }

    void move(const rank_memory& from, rank_t source, rank_memory& to, rank_t target) const {
        if (wanted_.kind == collective::barrier) return;
        if (kind_.reduces) return add(from, source, to, target);
        if (kind_.has_root() && (kind_.root_takes ? target : source) != wanted_.root) return;
        if (wanted_.in_place && source == target && kind_.has_two_buffers) return;
        const bool exchanges = kind_.gives_blocks && kind_.takes_blocks;
        const layout& sent = from.rank_layout;
        // An in-place block is sent from its place in the target.
        const bool in_target = sent.in_place && kind_.takes_blocks;
        const auto& offsets = in_target ? sent.target_offsets : sent.source_offsets;
        const auto& counts = in_target ? sent.target_counts : sent.source_counts;
        const std::uint64_t first = kind_.gives_blocks ? begin_of(offsets, target)
                                    : in_target        ? begin_of(offsets, source)
                                                       : 0;
        const std::uint64_t count = kind_.gives_blocks ? count_of(counts, target) : sent.count;
        const std::uint64_t place =
            kind_.takes_blocks ? begin_of(to.rank_layout.target_offsets, source) : 0;
        if (exchanges) REQUIRE(count == count_of(to.rank_layout.target_counts, source));
        REQUIRE(place + count <= to.target.size());
        std::copy_n(from.input() + first, count, to.target.data() + place);
    }

    void add(const rank_memory& from, rank_t source, rank_memory& to, rank_t target) const {
        if (kind_.root_takes && target != wanted_.root) return;
        if (wanted_.kind == collective::scan && source > target) return;
        if (wanted_.kind == collective::exscan && source >= target) return;
        const layout& got = to.rank_layout;
        const std::uint64_t first = kind_.gives_blocks ? begin_of(got.target_offsets, target) : 0;
        const std::uint64_t count =
            kind_.gives_blocks ? count_of(got.target_counts, target) : wanted_.count;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::int32_t more = from.input()[first + i];
            to.target[i] = source == 0 ? more : to.target[i] + more;
        }
    }

    problem wanted_;
    schedule::traits kind_;
    std::vector<rank_memory> all_;
};

// Compares the output, and changes each element in turn.
void check(rank_memory& memory, rank_t rank, rank_t ranks) {
    const content expected(memory.rank_layout, int32_sum, rank, ranks);
    CHECK_FALSE(expected.find_error(memory.target.data(), round_number).has_value());
    for (const block& each : memory.rank_layout.got) {
        for (std::uint64_t i = 0; i < each.count; ++i) {
            memory.target[each.offset + i] ^= 1;
            CHECK(expected.find_error(memory.target.data(), round_number).has_value());
            memory.target[each.offset + i] ^= 1;
        }
    }
}

// Sizes that are equal in both directions, as alltoallv in place needs them. The other collectives
// take those of rank 0.
problem make_problem(collective kind, rank_t ranks, bool in_place, std::uint64_t gaps) {
    const schedule::traits type = traits_of(kind);
    const auto size = [type](rank_t from, rank_t to) {
        const bool exchanges = type.gives_blocks && type.takes_blocks;
        return std::uint64_t{exchanges ? from + to : type.takes_blocks ? from : to} * 3 % 7;
    };
    return {kind, ranks, 9, ranks - 1, in_place, size, gaps};
}

}  // namespace

TEST_CASE("every collective gives the output of its layout, and one wrong element is detected") {
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const rank_t ranks : {1U, 2U, 3U, 5U}) {
            for (const bool in_place : {false, true}) {
                for (const std::uint64_t gaps : {0U, 42U}) {
                    const auto kind = static_cast<collective>(i);
                    INFO(i << " " << ranks << " ranks, in place " << in_place << ", gaps " << gaps);
                    manual_exchange done(make_problem(kind, ranks, in_place, gaps));
                    done.exchange();
                    for (rank_t rank = 0; rank < ranks; ++rank)
                        check(done.all()[rank], rank, ranks);
                }
            }
        }
    }
}

TEST_CASE("opaque elements and a user's operator are compared byte by byte") {
    constexpr rank_t ranks = 3;
    const word_operator user{2, GENERATE(false, true)};
    const elements like{UCG_TYPE_OPAQUE, UCG_OP_USER, 16, user};
    std::vector<std::byte> all;
    const layout described =
        make_layout({collective::allreduce, ranks, 2, 0, false, {}, 0}, ranks - 1);
    for (rank_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::byte> own(32);
        content(described, like, rank, ranks).write(own.data(), nullptr, round_number);
        if (rank != 0)
            word_operator::function(all.data(), own.data(), 2, &const_cast<word_operator&>(user));
        all = own;
    }
    const content expected(described, like, 0, ranks);
    CHECK_FALSE(expected.find_error(all.data(), round_number).has_value());
    for (std::byte& each : all) {
        each ^= std::byte{1};
        CHECK(expected.find_error(all.data(), round_number).has_value());
        each ^= std::byte{1};
    }
}

TEST_CASE("a changed guard byte, input byte or output byte is detected") {
    constexpr rank_t ranks = 3;
    const elements like{UCG_TYPE_OPAQUE, UCG_OP_SUM, 3, {}};
    std::deque<test::collective_memory> all;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        all.emplace_back(make_problem(collective::allgatherv, ranks, false, 42), like, rank);
        all.back().fill(round_number);
    }
    for (test::collective_memory& each : all) {
        auto* const target = static_cast<std::byte*>(each.target());
        for (const block& part : each.layout().got)
            std::copy_n(static_cast<const std::byte*>(all[part.source].source()), part.count * 3,
                        target + part.offset * 3);
        CHECK(each.wrong().empty());
        const auto check_bytes = [&each](std::byte* bytes, std::uint64_t count) {
            for (std::uint64_t i = 0; i < count; ++i) {
                bytes[i] ^= std::byte{1};
                CHECK_FALSE(each.wrong().empty());
                bytes[i] ^= std::byte{1};
            }
        };
        check_bytes(target, each.layout().target_elements * 3);
        check_bytes(static_cast<std::byte*>(const_cast<void*>(each.source())),
                    each.layout().source_elements * 3);
    }
}
