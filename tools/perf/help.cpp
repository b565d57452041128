#include "tools/perf/help.hpp"

#include <fmt/format.h>

#include "tools/perf/core/workload.hpp"

namespace tools::perf {
namespace {

constexpr const char* introduction =
    R"(Usage: ucx_perftest [options]          wait for a client and run what it asks for
       ucx_perftest host [options]     run a test against the server on that host
       ucx_perftest -l [options]       run a test within one process

What to run
  -t test      one of the tests below
  -s sizes     message size; several, separated by commas, are the parts of one message:
               8, 64k, 1m, 16,48,8192, and 1024:16 for sixteen parts of 1024 bytes (8)
  -n count     iterations (1000000); outlives the -n of a batch file
  -w count     iterations before the measured ones, at most a tenth of -n (10000); outlives the -w
               of a batch file
  -O count     messages in flight (latency tests 1, bandwidth tests 32)
  -b file      run every line of a batch file: a name, then options; given again, every
               combination of lines. A '#' begins a comment line
  -R percent   which percentile to print (50)
  -V           check every byte of every received message

How
  -c list      processors to run on, such as 0,2-3; with one for each thread, one each
  -T n         threads, each with its own worker; n,shared: all on one worker (needs -M multi)
  -M mode      thread mode of the workers: single, serialized or multi (single)
  -D s[,r]     layout of the message at sender and receiver: contig or iov (contig)
  -i bytes     distance between the parts of an iov message (0: back to back)
  -C           receive with a tag mask that accepts any tag
  -U           receive only what a probe has seen, so that every message comes unexpected
  -r mode      recv or recv_data. Stream tests: receive into a buffer, or take what arrived
               without a copy. ucp_am tests: fetch what was only announced, or all (recv)
  -H bytes     header of an active message, beside its size (0)
  -y           copy the data of an active message out of its handler
  -z           register the memory of messages, put and get, and hand its handle to each operation
  -m type      memory of the messages, sender[,receiver]: host (host)
  -e [mode]    error handling of the endpoints: none, or peer (as -e alone) (none)
  -E mode      waiting: poll, or sleep until there is something to do (poll)
  -I           workers that can be slept on, without sleeping on them

Tests of a transport (-T, -M, -e, -r, -z, -C and -U are not for them)
  -x name      transport, such as posix or tcp
  -d name      device, such as memory or eth0; a wrong one is answered with those that are here
  -D how       operation: short, bcopy or zcopy (short; for put and get zcopy)
  -H bytes     header of a message, counted in its size (8; other than 8 with zcopy only)
  -W count     messages that the sender may be ahead of what the receiver told (127)

Connection
  -p port      TCP port by which client and server find each other (13337)
  -6           use IPv6 for it
  -l           loopback, no second process
  --peer-timeout s
               end when the other side has said nothing for so many seconds, because it is stopped
               or cannot be reached; both sides say every 2 s that they are alive (120; 0: never)
  With a job key (UCX_JOB_KEY, UCX_JOB_KEY_FILE) both sides prove it to each other first.

Output
  -f           only the final row of each test
  -v, --csv    comma separated values
  --json       one JSON document: the conditions of the run (versions, the library's path, host,
               binding, settings) and a row for each test
  -N           thousands separators
  -X           what the library says about an operation of the test, behind the final row
  -q           no table header, no place among the tests of a batch; the server prints nothing
  -h, --help   this text
  --version    the versions of this program and of the library, and the library's path

Columns: "average" covers the time since the row before, "overall" the whole run. Latency is
half a round trip; a MB is 2^20 bytes. Without -x transports are chosen by UCX_TLS and
UCX_NET_DEVICES.

Tests
)";

}  // namespace

std::string help_text() {
    std::string text = introduction;
    for (const test_row& row : all_tests()) {
        text += fmt::format("  {:<14} {}\n", row.name, row.title);
    }
    return text;
}

}  // namespace tools::perf
