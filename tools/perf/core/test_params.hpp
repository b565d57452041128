// The parameters of one test, the same on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tools::perf {

enum class thread_mode : std::uint8_t { single, serialized, multi };
enum class layout : std::uint8_t { contig, iov };
enum class error_handling : std::uint8_t { none, peer };
enum class wait_mode : std::uint8_t { poll, sleep };
enum class send_operation : std::uint8_t { copied_short, bcopy, zcopy };
enum class receive_mode : std::uint8_t { recv, recv_data };

// Value type. The client fills it from its command line and batch files and sends it to the
// server as the same words; see test_options.hpp.
struct test_params {
    std::string test;                              // -t
    std::vector<std::size_t> pieces{8};            // -s: sizes of the parts of one message
    std::size_t stride = 0;                        // -i: distance between parts, 0: back to back
    std::uint64_t iterations = 1'000'000;          // -n
    std::uint64_t warmup = 10'000;                 // -w
    std::uint32_t outstanding = 0;                 // -O, 0: the test's own choice
    double rank = 50.0;                            // -R, percent
    std::uint32_t threads = 1;                     // -T
    bool shared_worker = false;                    // -T n,shared
    thread_mode threading = thread_mode::single;   // -M
    layout send_layout = layout::contig;           // -D
    layout recv_layout = layout::contig;           // -D
    error_handling errors = error_handling::none;  // -e
    receive_mode receive = receive_mode::recv;     // -r
    wait_mode waiting = wait_mode::poll;           // -E
    bool wakeup = false;                           // -I
    bool wildcard = false;                         // -C
    bool unexpected = false;                       // -U
    bool validate = false;                         // -V
    bool extra_info = false;                       // -X
    std::optional<std::size_t>
        header;                   // -H: header of an active message; unset: the test's default
    bool extra_copy = false;      // -y
    bool memory_handles = false;  // -z: pass the handle of registered memory to every operation

    // Returns whether the workers must support sleeping.
    [[nodiscard]] bool sleeps() const noexcept { return wakeup || waiting == wait_mode::sleep; }

    // Parameters of the tests of a transport.
    std::string transport;                    // -x
    std::string device;                       // -d
    std::optional<send_operation> operation;  // -D; unset: the test's own choice
    std::uint32_t flow_window = 127;          // -W

    // The bytes of one message.
    [[nodiscard]] std::size_t message_size() const noexcept;

    // Bytes from the start of the first to the end of the last part in memory.
    [[nodiscard]] std::size_t extent() const noexcept;

    // The number of warm-up iterations: at most a tenth of the iterations, so that tests of long
    // messages are quick.
    [[nodiscard]] std::uint64_t warmup_iterations() const noexcept;
};

// Returns the bytes of `count` buffers of `size` bytes. Throws failure if the buffers of all
// `threads` threads exceed an eighth of the memory that this process may use: the client chooses
// the sizes, and any process can be the client of a server without a job key.
[[nodiscard]] std::size_t memory_of_buffers(std::size_t count, std::size_t size,
                                            std::uint32_t threads = 1);

}  // namespace tools::perf
