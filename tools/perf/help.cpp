#include "tools/perf/help.hpp"

#include <fmt/format.h>

#include "tools/perf/core/workload.hpp"

namespace tools::perf {
namespace {

constexpr const char* introduction =
    R"(Usage: ucx_perftest [options]          wait for a client and run its tests
       ucx_perftest host [options]     run a test against the server on that host
       ucx_perftest -l [options]       run a test within one process

What to run
  -t test      one of the tests below
  -s sizes     message size; several, separated by commas, are the parts of one message:
               8, 64k, 1m, 16,48,8192, and 1024:16 for sixteen parts of 1024 bytes (8)
  -n count     iterations (1000000); overrides the -n of a batch file
  -w count     iterations before the measured ones, at most a tenth of -n (10000); overrides the -w
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
  -U           probe before each receive, so that every message is unexpected
  -r mode      recv or recv_data. Stream tests: receive into a buffer, or take what arrived
               without a copy. ucp_am tests: fetch rendezvous messages only, or all (recv)
  -H bytes     header of an active message, in addition to its size (0)
  -y           copy the data of an active message out of its handler
  -z           register the memory of messages, put and get, and hand its handle to each operation
  -m type      memory of the messages, sender[,receiver]: host (host)
  -e [mode]    error handling of the endpoints: none, or peer (as -e alone) (none)
  -E mode      waiting: poll, or sleep until there is something to do (poll)
  -I           enable wake-up of the workers without sleeping on them

Tests of a transport (-T, -M, -e, -r, -z, -C and -U are not for them)
  -x name      transport, such as posix or tcp
  -d name      device, such as memory or eth0; a wrong one lists the available devices
  -D how       operation: short, bcopy or zcopy (short; for put and get zcopy)
  -H bytes     header of a message, counted in its size (8; other than 8 with zcopy only)
  -W count     messages that the sender may be ahead of the receiver's acknowledgements (127)

Connection
  -p port      TCP port by which client and server find each other (13337)
  -6           use IPv6 for it
  -l           loopback, no second process
  --peer-timeout s
               give up when the peer has sent nothing for s seconds, because it is stopped or cannot
               be reached; both sides send a keepalive every 2 s (120; 0: never)
  With a job key (UCX_JOB_KEY, UCX_JOB_KEY_FILE) both sides prove it to each other first.

Output
  -f           only the final row of each test
  -v, --csv    comma separated values
  --json       one JSON document: the conditions of the run (versions, the library's path, host,
               binding, settings) and a row for each test
  -N           thousands separators
  -X           the library's description of an operation of the test, after the final row
  -q           no table header, no position among the tests of a batch; the server prints nothing
  -h, --help   this text
  --version    the versions of this program and of the library, and the library's path

Columns: "average" covers the time since the previous row, "overall" the whole run. Latency is
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
