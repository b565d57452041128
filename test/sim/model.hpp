// What the program did, and whether the library answered as it must.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/sim/memory.hpp"
#include "test/sim/payload.hpp"

namespace sim_test {

class process;
struct operation_record;

// A tag says everything about a message: 16 bits of class, that receivers choose by, 16 bits of
// the stream (one per sending endpoint), 32 bits of the place in the stream.
inline constexpr ucp_tag_t class_mask = 0xffff000000000000;
inline constexpr ucp_tag_t stream_mask = 0x0000ffff00000000;

struct message_record {
    ucp_tag_t tag = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t length = 0;
    bool synchronous = false;
    bool active = false;   // goes to a handler, not to a receive
    bool refused = false;  // by its handler
    operation_record* sent_by = nullptr;
    operation_record* taken_by = nullptr;
};

enum class what : std::uint8_t {
    send,
    receive,
    flush,
    worker_flush,
    close,
    arrival,       // a handler was called
    data_receive,  // of what a handler kept
    write,         // bytes of a stream
    read,          //
    put,           // on memory of a peer
    get,           //
    atomic,        //
};
[[nodiscard]] const char* name(what kind) noexcept;
[[nodiscard]] constexpr bool is_remote(what kind) noexcept {
    return kind == what::put || kind == what::get || kind == what::atomic;
}

// One call of the program's, from its start to its end.
struct operation_record {
    what kind = what::send;
    process* owner = nullptr;
    std::size_t number = 0;  // order of the calls
    std::size_t worker = 0;
    std::size_t endpoint = 0;
    std::size_t peer = 0;  // of an operation on a stream
    std::unique_ptr<payload> data;
    std::vector<std::uint64_t> user_memory;
    void* handle = nullptr;
    bool user_request = false;
    bool has_callback = false;
    bool inside_call = true;
    bool forgotten = false;  // see model::forget
    bool released = false;   // given back before it ended: the callback comes
    bool canceled = false;
    bool forced = false;
    bool handles_errors = false;  // of the endpoint of a send
    bool done = false;
    unsigned callbacks = 0;
    std::size_t done_at = 0;  // in calls
    std::size_t canceled_at = 0;
    ucs_status_t status = UCS_INPROGRESS;

    message_record* message = nullptr;  // sent
    ucp_tag_t tag = 0;                  // of a receive
    ucp_tag_t mask = 0;
    ucp_tag_recv_info_t info{};
    std::vector<operation_record*> waits_for;  // of a flush or close
    std::vector<operation_record*> covers;     // of a flush: operations on memory before it
    std::unique_ptr<remote_operation> remote;  // of an operation on memory
    std::vector<std::byte> header;             // of an active message
    bool wait_all = false;                     // of a receive from a stream
    std::size_t received = 0;                  //
};

// Collects records and judges them. The first violation is kept; the run ends there.
class model {
public:
    operation_record& start(what kind, std::size_t worker);
    message_record& add_message(std::size_t stream, ucp_tag_t tag_class, std::size_t from,
                                std::size_t to, std::size_t length);
    [[nodiscard]] std::size_t new_stream();
    [[nodiscard]] std::size_t stream_length(std::size_t stream) const {
        return streams_[stream].size();
    }

    // An operation ended, however it was learned.
    void ended(operation_record& which, ucs_status_t status);
    // Its request was freed before it ended: nothing is heard of it any more.
    void forget(operation_record& which);
    // Checks at the very end of a run.
    void check_everything();
    void check_memory(const region& of) { memory_.check(of); }

    // Something happened to the connection of these workers: messages may be lost and fail.
    void disturb(std::size_t a, std::size_t b);
    void disturb_all(std::size_t a, std::size_t workers);
    [[nodiscard]] bool disturbed(std::size_t a, std::size_t b) const;
    [[nodiscard]] bool disturbed(std::size_t worker) const { return touched_.contains(worker); }

    // A worker closed an endpoint to another: streams between them may end.
    void note_closed(std::size_t worker, std::size_t to) { closed_.insert({worker, to}); }

    void kill(std::size_t worker) { dead_.insert(worker); }
    [[nodiscard]] bool dead(std::size_t worker) const { return dead_.contains(worker); }

    void violation(std::string text);
    [[nodiscard]] bool violated() const noexcept { return !violation_.empty(); }
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    [[nodiscard]] bool all_ended() const;
    // But receives from streams, which wait until their endpoint is closed.
    [[nodiscard]] bool all_but_reads_ended() const;
    [[nodiscard]] bool all_delivered() const;
    [[nodiscard]] std::string pending_text() const;
    // Of each stream to this worker the last tagged message, where a receive can still wait for it.
    [[nodiscard]] std::vector<const message_record*> last_missing(std::size_t to) const;
    // It was received, or cannot be waited for.
    [[nodiscard]] bool settled(const message_record& message) const;
    [[nodiscard]] std::deque<operation_record>& operations() noexcept { return operations_; }
    [[nodiscard]] std::string text(const operation_record& of) const;
    std::size_t next_call() noexcept { return ++calls_; }

    // A handler was called with a message that says that it is this one. nullptr: it never was
    // sent, or came before (a violation).
    message_record* arrived(ucp_tag_t tag, std::size_t at, std::size_t length, bool in_order);

private:
    void ended_send(operation_record& send);
    void ended_receive(operation_record& receive);
    void ended_data_receive(operation_record& receive);
    void ended_on_stream(const operation_record& which);
    [[nodiscard]] bool over(const operation_record& which) const;
    void ended_flush(operation_record& flush);
    void check_delivery(const message_record& message);
    void check_order(const operation_record& receive);
    void check_fairness(const operation_record& receive);
    [[nodiscard]] bool may_vanish(const message_record& message) const;

    std::deque<operation_record> operations_;
    std::deque<message_record> messages_;
    std::unordered_map<ucp_tag_t, message_record*> by_tag_;
    std::vector<std::vector<message_record*>> streams_{1};  // none is 0: no message has tag 0
    std::set<std::pair<std::size_t, std::size_t>> disturbed_;
    std::vector<const operation_record*> forgotten_;  // receives
    std::map<std::size_t, ucp_tag_t> last_arrival_;   // by stream
    std::set<std::pair<std::size_t, std::size_t>> closed_;
    std::set<std::size_t> touched_;
    std::set<std::size_t> dead_;
    std::string violation_;
    std::size_t calls_ = 0;
    memory_model memory_{*this};
};

}  // namespace sim_test
