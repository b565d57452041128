#include "ucg/core/group.hpp"

#include <algorithm>
#include <cmath>

#include "ucg/core/collective_request.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/time/clock.hpp"

namespace ucg {
namespace {

// Defaults for messages through rings in the memory of a node, and over a network that was not
// measured: a fast Ethernet.
schedule::link_cost usual_links(bool one_node) noexcept {
    schedule::link_cost made;
    made.latency = one_node ? 1e-6 : 2e-5;
    made.per_byte = one_node ? 1.5e-10 : 8e-10;
    made.per_message = one_node ? 2.5e-7 : 1e-6;
    return made;
}

}  // namespace

group::group(context& context, std::unique_ptr<exchange> exchange,
             const group_wireup::params& params)
    : context_(context), deadline_(params.deadline), none_(params.color == group_wireup::no_color) {
    context_.add(*this);
    wireup_.emplace(context, std::move(exchange), params);
}

// A sibling has the number of the first group, because nothing on one node is distinguished by it.
group::group(const group& first, const node::shared_memory& memory)
    : context_(first.context_), deadline_(0), none_(false), made_(first.made_) {
    made_.memory = memory;
    made_.copies = 1;
    context_.add(*this);
    try {
        state_ = build();
    } catch (...) {
        context_.remove(*this);
        throw;
    }
}

std::uint32_t siblings::left() const noexcept {
    return first_.made_.copies - used_.load(std::memory_order_relaxed);
}

ucs::result<std::unique_ptr<group>> siblings::make() noexcept {
    const std::uint32_t number = used_.fetch_add(1, std::memory_order_relaxed);
    const node::shared_memory memory = first_.made_.memory.copy(number);
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    try {
        std::unique_ptr<group> made(new group(first_, memory));
        status = made->state();
        if (status == UCS_OK) return made;
    } catch (const std::bad_alloc&) {
    }
    memory.decline(first_.made_.placement.index_of(first_.rank()), status);
    return status;
}

group::~group() {
    kept_.clear();
    if (measuring_) stop_measuring(UCS_ERR_CANCELED);
    close();
    if (has_id_) context_.ids().release(made_.id);
    context_.remove(*this);
}

void group::advance() noexcept {
    if (wireup_) join();
    if (!measuring_) return;
    move();
    if (measuring_->status() == UCS_INPROGRESS && !measuring_->failed() &&
        ucs::time::now() >= deadline_) {
        ucs::log::error(core_log,
                        "the group of {} ranks was not made in time: rank {} measures the network "
                        "and gets no answer",
                        size(), rank());
        measuring_->fail(UCS_ERR_TIMED_OUT);
    }
    const ucs_status_t status = measuring_->status();
    if (status == UCS_INPROGRESS) return;
    if (status == UCS_OK) {
        select::adopt(samples_, links_);
        use_links_of_user();
        if (core_log.enabled(ucs::log::level::debug))
            ucs::log::debug(core_log, "group {}: {}", made_.id, select::text_of(links_));
    }
    measuring_.reset();
    state_ = status;
}

// The measurement uses its memory until it has ended.
void group::stop_measuring(ucs_status_t why) noexcept {
    measuring_->fail(why);
    while (measuring_->status() == UCS_INPROGRESS) {
        static_cast<void>(context_.progress());
        ucs::time::simulation_yield();
    }
    measuring_.reset();
}

const net::member_addresses& group::addresses() const noexcept {
    static const net::member_addresses none;
    return far_ != nullptr ? far_->addresses() : none;
}

void group::join() noexcept {
    const ucs_status_t joined = ucs::boundary(core_log, "making a group", [this] {
        const ucs_status_t status = wireup_->advance();
        if (status != UCS_OK || none_) return status;
        made_ = wireup_->take();
        has_id_ = true;
        wireup_.reset();
        return build();
    });
    // The end of the wireup makes progress, in which the group still counts as being made.
    if (joined != UCS_INPROGRESS) wireup_.reset();
    state_ = joined;
}

ucs_status_t group::build() {
    const bool one_node = made_.placement.nodes() == 1;
    const schedule::rank_t own_index = made_.placement.index_of(made_.rank);
    if (made_.memory) {
        std::vector<pid_t> pids;
        for (const node::process_identity& each : made_.processes)
            pids.push_back(static_cast<pid_t>(each.pid));
        lives_.emplace(pids);
        node::tuning params;
        params.single_copy_bytes = context_.options().single_copy.bytes;
        params.domain_bytes = context_.options().numa_level.bytes;
        made_.memory.place(own_index);
        engine_.emplace(made_.memory, *lives_, own_index, params,
                        made_.may_read ? node::local_peers(made_.processes) : node::local_peers(),
                        made_.numa);
        ucs::log::debug(core_log, "group {}: {} ranks of {} on this node, on {} of its NUMA nodes",
                        made_.id, made_.memory.ranks(), size(), engine_->domains().count());
    }
    links_ = usual_links(one_node);
    if (one_node) {
        near_ = std::make_unique<node::fabric>(made_.memory, *lives_, own_index,
                                               context_.early_messages());
        backoff_ = ucs::arch::backoff(node::usual_backoff(made_.memory.ranks()));
        sleeper_.emplace(made_.memory, own_index);
    } else {
        const auto worker = context_.worker();
        if (!worker) return worker.status();
        far_ = std::make_unique<net::ucp_fabric>(*worker, context_.control_messages(), made_.id,
                                                 made_.rank, std::move(made_.addresses));
    }
    schedule::fabric& messages =
        one_node ? static_cast<schedule::fabric&>(*near_) : static_cast<schedule::fabric&>(*far_);
    fabric_.emplace(messages, engine(), made_.placement);
    return one_node ? prepare_fast_barrier() : measure();
}

ucs_status_t group::prepare_fast_barrier() {
    const config& options = context_.options();
    if (!engine_ || options.check || context_.lock().enabled() ||
        !std::isinf(options.timeout.seconds))
        return UCS_OK;
    const schedule::call barrier;
    schedule::shape shape = shape_of(barrier);
    shape.engine = true;
    const auto chosen = context_.selector().choose({barrier, shape, links_});
    if (!chosen || !chosen->is_engine()) return UCS_OK;
    fast_barrier_.emplace(*engine_);
    const ucs_status_t status = fast_barrier_->init(barrier);
    if (status != UCS_OK) fast_barrier_.reset();
    return status;
}

// Figures of the user take precedence over measured ones.
void group::use_links_of_user() noexcept {
    const config& options = context_.options();
    if (!std::isnan(options.latency.seconds)) links_.latency = options.latency.seconds;
    if (!std::isnan(options.bandwidth.bytes_per_second))
        links_.per_byte = 1 / options.bandwidth.bytes_per_second;
}

// Measures the cost of messages between nodes if the user does not give it. If the user gives both
// figures, nothing is measured, so that every run makes the same choices.
ucs_status_t group::measure() {
    use_links_of_user();
    const config& options = context_.options();
    if (!std::isnan(options.latency.seconds) && !std::isnan(options.bandwidth.bytes_per_second))
        return UCS_OK;
    const schedule::call call = select::measuring(made_.placement, samples_);
    measuring_.emplace(*fabric_, frames_);
    if (const ucs_status_t status = measuring_->init(select::measurement(made_.placement), call);
        status != UCS_OK) {
        measuring_.reset();
        return status;
    }
    measuring_->start();
    return UCS_INPROGRESS;
}

// Peers may need some time to receive what was sent; dead peers get none. Other ranks may still
// look up addresses at this process when it has no group any more.
void group::close() noexcept {
    if (far_ == nullptr) return;
    constexpr ucs::time::nanoseconds timeout = 5 * 1'000'000'000ULL;
    const ucs::time::nanoseconds until = ucs::time::now() + timeout;
    while (!far_->close() && ucs::time::now() < until) {
        static_cast<void>(context_.progress());
        ucs::time::simulation_yield();
    }
    if (const auto& book = far_->addresses().book(); book.use_count() == 1 && !book->close())
        context_.serve(book);
}

schedule::shape group::shape_of(const schedule::call& call) const noexcept {
    return shape_of(call, static_cast<double>(call.count) * static_cast<double>(call.element));
}

schedule::shape group::shape_of(const schedule::call& call, double bytes) const noexcept {
    return {size(), bytes, call.sizes, call.root, fabric_->node_placement()};
}

unsigned group::progress() noexcept {
    if (wireup_ || measuring_) {
        advance();
        return state_ == UCS_INPROGRESS ? 0 : 1;
    }
    if (state_ != UCS_OK || none_) return 0;
    const unsigned done = move();
    constexpr unsigned polls_per_check = 64;
    if (!timed_.empty() && ++looks_ % polls_per_check == 0) expire();
    return done;
}

unsigned group::progress(const request& request) noexcept {
    return request.uses_engine() ? unsigned{engine_->progress_closely()} : context_.progress();
}

unsigned group::move() noexcept {
    unsigned done = 0;
    if (engine_ && engine_->progress()) ++done;
    if (near_ != nullptr && near_->progress()) ++done;
    if (far_ != nullptr) done += far_->progress();
    return done;
}

// Requests that run on the engine alone are polled more often than everything else. If no messages
// can come from a network, this may sleep until another rank of the node wakes it.
template<class Done>
void group::wait_until(const Done& done, bool by_engine) noexcept {
    constexpr unsigned others_every = 16;
    unsigned turns = 0;
    const auto move = [&] {
        if (by_engine && ++turns % others_every != 0) return engine_->progress_closely();
        return context_.progress() != 0;
    };
    if (sleeper_ && context_.is_local()) {
        backoff_.wait_for(done, move, *sleeper_, [&] {
            static_cast<void>(context_.progress());
            if (!timed_.empty()) expire();
        });
    } else {
        ucs::arch::backoff().wait_for(done, move);
    }
}

ucs_status_t group::wait(const request& request) noexcept {
    wait_until([&] { return request.status() != UCS_INPROGRESS; }, request.uses_engine());
    return request.status();
}

std::optional<ucs_status_t> group::run_fast_barrier() noexcept {
    if (!fast_barrier_) return std::nullopt;
    engine_->run(*fast_barrier_);
    if (fast_barrier_->status() == UCS_INPROGRESS)
        wait_until([&] { return fast_barrier_->status() != UCS_INPROGRESS; }, true);
    return fast_barrier_->status();
}

void group::watch(request& request) noexcept {
    timed_.push_back(request);
    if (far_ != nullptr) far_->limit_time(request.timeout());
}

void group::expire() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    // Each expired request leaves the list, and its callback may change the list further.
    const auto first_late = [&] {
        return std::ranges::find_if(timed_,
                                    [now](const request& each) { return each.deadline() <= now; });
    };
    for (auto late = first_late(); late != timed_.end(); late = first_late())
        late->expire();
}

}  // namespace ucg
