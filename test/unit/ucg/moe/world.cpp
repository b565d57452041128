#include "test/unit/ucg/moe/world.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ucs/random/seeded.hpp"

namespace test::moe {

using namespace ucg;

std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return ucs::sys::mix(ucs::sys::mix(a * ucs::sys::golden_ratio + b) + c);
}

scenario on_scattered_nodes(scenario setup) {
    setup.ranks = 9;
    setup.nodes = {5, 1, 5, 2, 5, 1, 5, 7, 5};
    setup.experts = 27;
    setup.k = 4;
    setup.disorder = true;
    return setup;
}

std::vector<scenario> with_masks(scenario setup) {
    setup.ranks = 8;
    setup.ranks_per_node = 4;
    setup.experts = 16;
    setup.k = 4;
    std::vector<scenario> made(2, setup);
    made[0].masked = {0, 1, 0, 0, 1, 0, 0, 0};
    made[1].masked = {1, 1, 1, 1, 0, 0, 1, 0};
    return made;
}

std::string text(const scenario& setup) {
    return fmt::format(
        "{} ranks, {} to a node, {} node names, {} experts, k {}, {} tokens, gate {}, route {}, {} "
        "channels, {} masked, seed {}",
        setup.ranks, setup.ranks_per_node, setup.nodes.size(), setup.experts, setup.k, setup.tokens,
        static_cast<int>(setup.gate_kind), static_cast<int>(setup.settings.routing),
        setup.settings.channels, setup.masked.size(), setup.seed);
}

namespace {

placement placement_of(const scenario& setup) {
    if (!setup.nodes.empty()) return placement(setup.nodes);
    std::vector<std::uint64_t> names(setup.ranks);
    for (rank_t rank = 0; rank < setup.ranks; ++rank)
        names[rank] = rank / setup.ranks_per_node;
    return placement(names);
}

sim::machine machine_of(const scenario& setup) {
    sim::machine made;
    made.ranks = setup.ranks;
    made.ranks_per_node = setup.nodes.empty() ? setup.ranks_per_node : 1;
    made.seed = setup.seed;
    made.strict = setup.disorder;
    made.max_delay = setup.disorder ? 20'000 : 0;
    made.max_skew = setup.disorder ? 10'000 : 0;
    return made;
}

}  // namespace

world::world(const scenario& setup)
    : setup_(setup),
      placement_(placement_of(setup)),
      net_(std::make_unique<sim::network>(machine_of(setup))),
      gates_{setup.experts, setup.k, {}, setup.masked},
      teams_(setup.ranks) {
    gates_.topk.resize(setup.ranks);
    for (rank_t rank = 0; rank < setup.ranks; ++rank) {
        const bool empty = setup.uneven && mix(setup.seed, rank) % 5 == 0;
        const std::uint32_t less = setup.uneven ? rank % (setup.tokens + 1) : 0;
        choose(rank, empty || !lives(rank) ? 0 : setup.tokens - less);
        if (!lives(rank)) continue;
        auto made = ucg::moe::team::make(placement_, rank, setup.experts, setup.masked);
        REQUIRE(made.ok());
        teams_[rank] = std::make_shared<const ucg::moe::team>(*std::move(made));
    }
}

void world::choose(rank_t rank, std::uint32_t tokens) {
    std::vector<std::int64_t>& own_choices = gates_.topk[rank];
    const std::uint32_t local = setup_.experts / setup_.ranks;
    for (std::uint32_t token = 0; token < tokens; ++token) {
        const bool nothing =
            setup_.gate_kind == gate::with_holes && mix(setup_.seed, token, rank) % 6 == 0;
        for (std::uint32_t j = 0; j < setup_.k; ++j) {
            ucs::sys::random dice(mix(setup_.seed * 7919 + rank, token, j));
            const auto taken = [&](std::int64_t expert) {
                const auto end = own_choices.end();
                return std::find(end - static_cast<std::ptrdiff_t>(j), end, expert) != end;
            };
            std::int64_t expert = -1;
            for (int tries = 0; tries < 100 && !nothing; ++tries) {
                if (setup_.gate_kind == gate::with_holes && dice.below(4) == 0) break;
                std::uint64_t bound = setup_.experts;
                if (setup_.gate_kind == gate::skewed && dice.below(8) != 0)
                    bound = std::max(setup_.k, setup_.experts / 8);
                expert = static_cast<std::int64_t>(dice.below(bound));
                if (setup_.gate_kind == gate::one_rank)
                    expert =
                        (setup_.ranks / 2) * local + static_cast<std::int64_t>(dice.below(local));
                if (setup_.gate_kind == gate::repeated || setup_.gate_kind == gate::one_rank ||
                    !taken(expert))
                    break;
                expert = -1;
            }
            own_choices.push_back(expert);
        }
    }
}

std::uint32_t world::channel_of(rank_t source, std::uint32_t token) const {
    const std::uint32_t channels = setup_.settings.channels;
    const std::uint32_t length = std::max({(tokens(source) + channels - 1) / channels,
                                           setup_.settings.min_channel_tokens, std::uint32_t{1}});
    return token / length;
}

std::vector<rank_t> world::living_on(rank_t node) const {
    std::vector<rank_t> made;
    for (const rank_t rank : placement_.ranks_on(node))
        if (lives(rank)) made.push_back(rank);
    return made;
}

rank_t world::relay_of(rank_t source, rank_t node) const {
    if (placement_.node_of(source) == node) return source;
    const std::vector<rank_t> own_node = living_on(placement_.node_of(source));
    const std::vector<rank_t> candidates = living_on(node);
    const auto index =
        static_cast<std::size_t>(std::ranges::find(own_node, source) - own_node.begin());
    return candidates[index % candidates.size()];
}

const_matrix world::topk(rank_t rank) const {
    return ucg::moe::dense_matrix(reinterpret_cast<const std::byte*>(gates_.topk[rank].data()),
                                  tokens(rank), setup_.k, reduce::element::int64);
}

std::vector<ucs_status_t> world::run(const std::vector<schedule::program*>& programs) {
    std::deque<schedule::operation>& operations = rounds_.emplace_back();
    std::vector<schedule::operation*> by_rank(setup_.ranks);
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        if (programs[rank] == nullptr) continue;
        operations.emplace_back(net_->fabric(rank), net_->frames()).init(*programs[rank]);
        by_rank[rank] = &operations.back();
    }
    for (schedule::operation& each : operations)
        each.start();
    net_->run();
    std::vector<ucs_status_t> ends(setup_.ranks, UCS_OK);
    for (rank_t rank = 0; rank < setup_.ranks; ++rank)
        if (by_rank[rank] != nullptr) ends[rank] = by_rank[rank]->status();
    return ends;
}

void world::run_well(const std::vector<schedule::program*>& programs) {
    const std::vector<ucs_status_t> ends = run(programs);
    for (rank_t rank = 0; rank < setup_.ranks; ++rank) {
        if (ends[rank] == UCS_OK) continue;
        INFO("rank " << rank << ": " << ucs_status_string(ends[rank]));
        REQUIRE(ends[rank] == UCS_OK);
    }
}

std::vector<std::shared_ptr<const ucg::moe::plan>> world::plans() {
    on_all<ucg::moe::notify> all = notify_on_all(*this);
    run_well(all.programs);
    std::vector<std::shared_ptr<const ucg::moe::plan>> made(setup_.ranks);
    for (const rank_t rank : living())
        made[rank] = all.each[rank].take();
    return made;
}

on_all<ucg::moe::notify> notify_on_all(const world& all) {
    return {all, [&](ucg::moe::notify& made, rank_t rank) {
                return made.init(all.team(rank), all.topk(rank), all.setup().settings);
            }};
}

own_matrix::own_matrix(std::uint64_t rows, std::uint32_t elements, reduce::element type,
                       std::uint32_t gap, std::uint32_t apart)
    : rows_(rows),
      elements_(elements),
      type_(type),
      gap_(gap),
      apart_(apart),
      memory_(rows * (std::size_t{elements} * apart + gap) * reduce::size_of(type),
              std::byte{0x5a}) {}

namespace {

// Returns the bits of a floating-point number with a magnitude from 1/16 to 32.
std::uint64_t moderate(reduce::element type, std::uint64_t dice) {
    const std::uint64_t exponent = (dice >> 40U) % 9;
    switch (type) {
        case reduce::element::bf16:
            return (dice & 0x807fU) | (123 + exponent) << 7U;
        case reduce::element::fp16:
            return (dice & 0x83ffU) | (11 + exponent) << 10U;
        case reduce::element::fp32:
            return (dice & 0x807f'ffffU) | (123 + exponent) << 23U;
        default:
            return dice;
    }
}

}  // namespace

void own_matrix::fill_rows(std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
    const std::size_t size = reduce::size_of(type_);
    const std::size_t stride = (std::size_t{elements_} * apart_ + gap_) * size;
    ucs::sys::random dice(mix(seed, first));
    for (std::size_t offset = first * stride; offset < (first + count) * stride; offset += size) {
        const std::uint64_t bits = moderate(type_, dice.next());
        std::memcpy(memory_.data() + offset, &bits, size);
    }
}

void own_matrix::spoil() {
    std::ranges::fill(memory_, std::byte{0xa5});
}

matrix own_matrix::view() noexcept {
    const auto size = static_cast<std::ptrdiff_t>(reduce::size_of(type_));
    return {memory_.data(),
            rows_,
            elements_,
            type_,
            size * (static_cast<std::ptrdiff_t>(elements_) * apart_ + gap_),
            size * apart_};
}

const_matrix own_matrix::view() const noexcept {
    return const_cast<own_matrix*>(this)->view();
}

ucg::moe::stack own_matrix::stack(std::uint64_t rows_of_expert) noexcept {
    ucg::moe::stack made{view(), 0};
    made.first.rows = rows_of_expert;
    made.expert_stride = made.first.row_stride * static_cast<std::ptrdiff_t>(rows_of_expert);
    return made;
}

std::vector<std::byte> own_matrix::row(std::uint64_t i) const {
    const const_matrix all = view();
    std::vector<std::byte> made;
    for (std::uint32_t j = 0; j < elements_; ++j) {
        const std::byte* const position = all.row(i) + j * all.element_stride;
        made.insert(made.end(), position, position + all.element_bytes());
    }
    return made;
}

float own_matrix::real(std::uint64_t row, std::uint32_t element) const {
    const const_matrix all = view();
    return widened(type_, all.row(row) + element * all.element_stride);
}

namespace {

// A floating-point format with a sign, an exponent and a mantissa.
struct format {
    int mantissa;  // bits
    int least;     // exponent of the smallest normal number
    std::uint32_t sign;
};

format format_of(reduce::element type) {
    if (type == reduce::element::bf16) return {7, -126, 0x8000};
    if (type == reduce::element::fp16) return {10, -14, 0x8000};
    return {3, -6, 0x80};  // fp8_e4m3
}

}  // namespace

float widened(reduce::element type, const std::byte* from) {
    const std::size_t bytes = reduce::size_of(type);
    std::uint32_t bits = 0;
    std::memcpy(&bits, from, bytes);
    if (type == reduce::element::fp32 || type == reduce::element::bf16)
        return std::bit_cast<float>(bits << (32 - 8 * bytes));
    const format form = format_of(type);
    const auto number = static_cast<int>(bits & (form.sign - 1));
    const int power = std::max(number >> form.mantissa, 1) - 1;
    const double size =
        std::ldexp(number - (power << form.mantissa), power + form.least - form.mantissa);
    return static_cast<float>((bits & form.sign) != 0 ? -size : size);
}

// Rounds to nearest, ties to even. Does not handle infinities and NaNs.
void put_rounded(reduce::element type, float value, std::byte* into) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (type != reduce::element::fp32) {
        const format form = format_of(type);
        const double size = std::fabs(static_cast<double>(value));
        int exponent = form.least;
        if (size != 0) (void)std::frexp(size, &exponent);
        const int power = std::max(exponent - 1 - form.least, 0);
        // A mantissa that is rounded up to the next power of two carries into the exponent.
        const int number =
            (power << form.mantissa) +
            static_cast<int>(std::nearbyint(std::ldexp(size, form.mantissa - form.least - power)));
        bits = static_cast<std::uint32_t>(number) | (std::signbit(value) ? form.sign : 0);
    }
    std::memcpy(into, &bits, reduce::size_of(type));
}

}  // namespace test::moe
