// Copies between memory of any kinds in this process, with completions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ucs/memory/device_memory.hpp"
#include "uct/cuda/base/context_streams.hpp"
#include "uct/cuda/base/synchronous_writes.hpp"

namespace uct::cuda {

// Starts copies on streams of its own, and finds in progress() that they have ended. Copies with
// the same direction in the same context end in the order of their start; others do not wait for
// each other. Copies that involve no device are done at once.
//
// The context of a copy is that of its memory. The program may destroy it while copies are in
// flight: these end with an error, and the streams in it are forgotten. A device whose calls fail
// ends its copies with an error, too. In both cases one line is logged, and other contexts are not
// affected. A copy ends only when the device does not use its memory any more, as far as the driver
// tells.
//
// Owned by an interface, owner context. Nothing is made before the first copy that needs it.
class copy_queue {
public:
    struct limits {
        std::size_t operations = 1024;  // at the same time
        unsigned events_per_turn = 16;  // of each stream
    };

    // A copy between the pieces and one range of bytes.
    struct transfer {
        std::span<const iov> pieces;
        std::uint64_t place = 0;   // address of the range in this process
        bool is_to_pieces = true;  // otherwise from them
        // The memory of the range, if the caller knows it.
        const ucs::cuda::device_memory* memory = nullptr;
        std::optional<lane_number> lane = {};  // otherwise that of the direction
    };

    explicit copy_queue(const limits& allowed) noexcept : limits_(allowed) {}
    // All operations must have been cancelled.
    ~copy_queue();
    copy_queue(const copy_queue&) = delete;
    copy_queue& operator=(const copy_queue&) = delete;

    // Returns UCS_OK if the copy is done, UCS_INPROGRESS if `done` (if not null) will be called
    // from progress() or cancel(), UCS_ERR_NO_RESOURCE if too many are in flight, or an error,
    // which is logged. The operation is in the list until it has ended.
    ucs_status_t start(const transfer& wanted, operation_list& owner, completion* done) noexcept;

    // Copies and waits for the end. Returns UCS_OK or an error, which is logged.
    ucs_status_t copy_now(void* to, const void* from, std::size_t length) noexcept;

    // Lets `pack` write at most context_streams::bounce_size bytes, copies them to a place and
    // waits for the end. Returns their number, or an error, which is logged.
    ssize_t copy_packed(pack_function pack, void* arg, std::uint64_t place) noexcept;

    // Calls `done` when everything in the list has ended that is there now. Returns UCS_OK if the
    // list is empty, UCS_INPROGRESS, or UCS_ERR_NO_MEMORY.
    ucs_status_t flush(operation_list& owner, completion* done) noexcept;

    // Waits until the devices do not use the memory of these operations any more, and ends them
    // with UCS_ERR_CANCELED.
    void cancel(operation_list& owner) noexcept;

    // Ends the operations whose copies have ended. Returns their number.
    unsigned progress() noexcept;

    // Returns true while operations are in flight.
    [[nodiscard]] bool has_work() const noexcept { return in_flight_ > 0; }

    void describe(ucs::vfs::directory& into) const;

private:
    friend class copy_issue;
    using operations = ucs::datastruct::list<operation, &operation::in_queue>;

    [[nodiscard]] operation* take_free() noexcept;
    void give_back(operation& ended) noexcept;
    [[nodiscard]] ucs::result<context_streams*> streams_for(const ucs::cuda::device_memory& memory);
    [[nodiscard]] ucs::result<ucs::cuda::CUcontext> context_for(
        const ucs::cuda::device_memory& memory);
    void end_part(operation* waiter, ucs_status_t status) noexcept;
    void poll(context_streams& in) noexcept;
    void poll(context_streams& in, lane& on) noexcept;
    void drop_unusable() noexcept;
    void end_all(context_streams& in) noexcept;
    void wait_for(operation& pending) noexcept;
    unsigned report_ended() noexcept;

    const limits limits_;
    const ucs::cuda::driver_functions* driver_ = nullptr;  // null before the first device copy
    std::vector<std::unique_ptr<context_streams>> contexts_;
    // Retained for memory that belongs to no context, by the number of the device.
    std::vector<ucs::cuda::primary_context> primaries_;
    std::vector<std::unique_ptr<operation>> all_;
    operations free_;
    operations ended_;
    synchronous_allocations sources_;
    std::vector<std::byte> scratch_;
    std::size_t in_flight_ = 0;
};

}  // namespace uct::cuda
