#include "uct/ib/ud/base/settings.hpp"

#include <utility>

namespace uct::ud {
namespace {

using ucs::config::at_least;
using ucs::config::between;
using ucs::config::make_option;

ucs::config::table make_table() {
    ucs::config::table own{
        "UD transport on verbs",
        {
            make_option<&settings::tx_queue>(
                "UD_VERBS_TX_QUEUE_LEN", "256",
                "Datagrams that the device may have to send, of all endpoints of an interface.",
                between("4", "32768").or_limited()),
            make_option<&settings::tx_min_inline>(
                "UD_VERBS_TX_MIN_INLINE", "96",
                "Bytes that a work request has to carry itself, so that the device need not fetch "
                "a short message. The device may offer more, which is used, or less.",
                between("0", "1024").or_limited()),
            make_option<&settings::tx_min_pieces>(
                "UD_VERBS_TX_MIN_SGE", "5",
                "Pieces of memory that one message may be gathered from, its header included.",
                between("1", "16").or_limited()),
            make_option<&settings::tx_moderation>(
                "UD_VERBS_TX_CQ_MODERATION", "64",
                "One of so many work requests asks for its completion; at most a quarter of the "
                "send queue.",
                between("1", "32768").or_limited()),
            make_option<&settings::tx_window>(
                "UD_VERBS_TX_WINDOW", "64",
                "Packets of one endpoint that may be unacknowledged. How many really are follows "
                "what the peer takes.",
                between("2", "1024").or_limited()),
            make_option<&settings::rx_queue>(
                "UD_VERBS_RX_QUEUE_LEN", "1024",
                "Datagrams that may arrive, of all peers of an interface, before the program "
                "progresses. What comes then is lost and repeated.",
                between("8", "65535").or_limited()),
            make_option<&settings::rx_batch>(
                "UD_VERBS_RX_MAX_BATCH", "16",
                "How many receive buffers are handed to the device at a time.",
                between("1", "1024").or_limited()),
            make_option<&settings::rx_first>(
                "UD_VERBS_RX_BUFS_FIRST", "32",
                "Receive buffers at first. More are added, up to UD_VERBS_RX_QUEUE_LEN, when they "
                "run short.",
                between("8", "65535").or_limited()),
            make_option<&settings::path_mtu>(
                "UD_VERBS_PATH_MTU", "auto",
                "Bytes of one datagram: 256, 512, 1024, 2048 or 4096. auto is what the port has.",
                between("256", "4096").or_auto()),
            make_option<&settings::timeout>(
                "UD_VERBS_TIMEOUT", "2m",
                "How long a peer may be silent that owes an answer, until it is taken for lost. "
                "A program that does not progress does not answer. A sender that says nothing for "
                "twice as long is forgotten until it sends again.",
                between("100ms", "1h").or_limited()),
            make_option<&settings::least_timer>(
                "UD_VERBS_MIN_RTO", "4ms",
                "The shortest time after which a packet is sent again. The time follows the "
                "measured round trip.",
                between("10us", "10s").or_limited()),
            make_option<&settings::most_timer>(
                "UD_VERBS_MAX_RTO", "500ms",
                "The longest time after which a packet is sent again, when the peer does not "
                "answer.",
                between("10us", "1m").or_limited()),
            make_option<&settings::linger>(
                "UD_VERBS_LINGER", "1s",
                "How long closing an interface waits for messages that its peers have not taken.",
                between("0", "1m")),
            make_option<&settings::test_drop>(
                "UD_VERBS_TEST_DROP", "0",
                "For tests: part of the received datagrams that is thrown away.",
                between("0", "0.9"), true),
            make_option<&settings::test_duplicate>(
                "UD_VERBS_TEST_DUPLICATE", "0",
                "For tests: part of the received datagrams that is taken twice.", between("0", "1"),
                true),
            make_option<&settings::test_reorder>(
                "UD_VERBS_TEST_REORDER", "0",
                "For tests: part of the received datagrams that others overtake.",
                between("0", "1"), true),
            make_option<&settings::test_forget>(
                "UD_VERBS_TEST_FORGET", "0",
                "For tests: part of a sender's questions, when it has nothing unacknowledged, with "
                "which its connection is forgotten.",
                between("0", "0.9"), true),
            make_option<&settings::test_seed>(
                "UD_VERBS_TEST_SEED", "1",
                "For tests: the seed that the fate of received datagrams is drawn from.", {}, true),
        },
    };
    return ucs::config::with_family(std::move(own), "UD_VERBS_", "UD_");
}

}  // namespace

const ucs::config::table& settings::options() {
    static const ucs::config::table table = make_table();
    return table;
}

}  // namespace uct::ud
