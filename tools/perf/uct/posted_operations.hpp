// The operations in flight of a test that accesses the memory of its peer.
#pragma once

#include "tools/perf/uct/am_channel.hpp"

namespace tools::perf {

// Counts operations that the transport completes later. Owned by a workload, one thread. Throws
// failure if an operation fails.
class posted_operations {
public:
    // `window`: the most operations in flight.
    posted_operations(const transport_connection& conn, unsigned window)
        : conn_(conn), window_(window) {
        done_.done = [](uct::completion&) {};
        done_.count = 0;
    }

    // Waits until the window has room, and posts an operation: `post` gets the completion.
    template<class Post>
    void start(const char* name, Post&& post) {
        wait(name, window_ - 1);
        ++done_.count;
        const ucs_status_t status = conn_.link.retry_until_posted([&] { return post(&done_); });
        if (status == UCS_INPROGRESS) return;
        --done_.count;
        conn_.link.require(name, status);
    }

    // Waits until at most `left` operations are incomplete.
    void wait(const char* name, unsigned left) {
        if (done_.count > left) {
            conn_.link.until([&] { return done_.count <= left; });
        }
        conn_.link.require(name, done_.status);
    }

    // Describes an operation for the output.
    [[nodiscard]] std::string description(std::string_view name) const {
        return fmt::format("{} of {} bytes on {}", name, conn_.params.message_size(),
                           conn_.link.name());
    }

private:
    const transport_connection conn_;
    const unsigned window_;
    uct::completion done_{};  // counts operations in flight
};

}  // namespace tools::perf
