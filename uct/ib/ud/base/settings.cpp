#include "uct/ib/ud/base/settings.hpp"

namespace uct::ud {

const ucs::config::table& settings::options() {
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table own{
        "UD transport on verbs",
        {
            make_option<&settings::tx_queue>(
                "UD_VERBS_TX_QUEUE_LEN", "256",
                "Datagrams in the device's send queue, for all endpoints of an interface.",
                between("4", "32768").or_limited()),
            make_option<&settings::tx_min_inline>(
                "UD_VERBS_TX_MIN_INLINE", "96",
                "Bytes of inline data that a work request should carry, so that the device need "
                "not fetch a short message. The device may offer more, which is used, or less.",
                between("0", "1024").or_limited()),
            make_option<&settings::tx_min_pieces>(
                "UD_VERBS_TX_MIN_SGE", "5",
                "Pieces of memory that one message may be gathered from, its header included.",
                between("1", "16").or_limited()),
            make_option<&settings::tx_moderation>(
                "UD_VERBS_TX_CQ_MODERATION", "64",
                "One of so many work requests is signaled; at most a quarter of the send queue.",
                between("1", "32768").or_limited()),
            make_option<&settings::tx_window>(
                "UD_VERBS_TX_WINDOW", "64",
                "Packets of one endpoint that may be unacknowledged. The actual number adapts to "
                "the peer.",
                between("2", "1024").or_limited()),
            make_option<&settings::rx_queue>(
                "UD_VERBS_RX_QUEUE_LEN", "1024",
                "Datagrams of all peers of an interface that may arrive before the program makes "
                "progress. Further ones are lost and repeated.",
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
                "How long a peer that owes a reply may be silent until it counts as lost. A "
                "program "
                "without progress does not reply. The state of a sender that is silent for twice "
                "as long is removed until it sends again.",
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
                "How long closing an interface waits for peers to acknowledge messages.",
                between("0", "1m")),
            make_option<&settings::test_drop>(
                "UD_VERBS_TEST_DROP", "0",
                "For tests: fraction of the received datagrams that is dropped.",
                between("0", "0.9"), true),
            make_option<&settings::test_duplicate>(
                "UD_VERBS_TEST_DUPLICATE", "0",
                "For tests: fraction of the received datagrams that is duplicated.",
                between("0", "1"), true),
            make_option<&settings::test_reorder>(
                "UD_VERBS_TEST_REORDER", "0",
                "For tests: fraction of the received datagrams that is delayed behind later ones.",
                between("0", "1"), true),
            make_option<&settings::test_forget>(
                "UD_VERBS_TEST_FORGET", "0",
                "For tests: fraction of a sender's requests at which its connection is removed, if "
                "nothing is unacknowledged.",
                between("0", "0.9"), true),
            make_option<&settings::test_seed>(
                "UD_VERBS_TEST_SEED", "1",
                "For tests: the seed that the fate of received datagrams is drawn from.", {}, true),
        },
    };
    static const ucs::config::table table = ucs::config::with_family(own, "UD_VERBS_", "UD_");
    return table;
}

}  // namespace uct::ud
