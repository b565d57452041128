#include "uct/ib/rc/base/settings.hpp"

namespace uct::rc {
namespace {

using ucs::config::at_least;
using ucs::config::between;
using ucs::config::make_option;

ucs::config::table make_table() {
    ucs::config::table own{
        "RC transport on verbs",
        {
            make_option<&settings::segment>(
                "RC_VERBS_SEG_SIZE", "8256",
                "Longest message, and size of the buffers that messages are received in.",
                between("2k", "1m").or_limited()),
            make_option<&settings::tx_queue>("RC_VERBS_TX_QUEUE_LEN", "256",
                                             "Work requests that may be under way on one endpoint.",
                                             between("4", "32768").or_limited()),
            make_option<&settings::tx_min_inline>(
                "RC_VERBS_TX_MIN_INLINE", "64",
                "Bytes that a work request has to carry itself, so that short messages need no "
                "buffer. The device may offer more, which is used, or less.",
                between("0", "1024").or_limited()),
            make_option<&settings::tx_min_pieces>(
                "RC_VERBS_TX_MIN_SGE", "5",
                "Pieces of memory that one message may be gathered from, its header included.",
                between("2", "16").or_limited()),
            make_option<&settings::tx_moderation>(
                "RC_VERBS_TX_CQ_MODERATION", "64",
                "One of so many work requests asks for its completion, unless somebody waits for "
                "it; at most a quarter of the send queue.",
                between("1", "32768").or_limited()),
            make_option<&settings::tx_completions>(
                "RC_VERBS_TX_CQ_LEN", "4096",
                "Work requests that may be under way on all endpoints of an interface together.",
                between("4", "4194304").or_limited()),
            make_option<&settings::rx_queue>(
                "RC_VERBS_RX_QUEUE_LEN", "4095",
                "Messages that may arrive, on all endpoints of an interface together, before the "
                "program progresses. Then senders are told to wait.",
                between("8", "65535").or_limited()),
            make_option<&settings::rx_batch>(
                "RC_VERBS_RX_MAX_BATCH", "16",
                "How many receive buffers are handed to the device at a time.",
                between("1", "1024").or_limited()),
            make_option<&settings::rx_first>(
                "RC_VERBS_RX_BUFS_FIRST", "256",
                "Receive buffers at first. More are added, up to RC_VERBS_RX_QUEUE_LEN, when they "
                "run short.",
                between("8", "65535").or_limited()),
            make_option<&settings::path_mtu>("RC_VERBS_PATH_MTU", "auto",
                                             "Payload of one packet: 256, 512, 1024, 2048 or 4096. "
                                             "auto is what both ports have.",
                                             between("256", "4096").or_auto()),
            make_option<&settings::read_depth>(
                "RC_VERBS_MAX_RD_ATOMIC", "auto",
                "Reads and atomic operations that may be under way on one endpoint; auto is what "
                "both devices can.",
                between("1", "255").or_auto().or_limited()),
            make_option<&settings::timeout>(
                "RC_VERBS_TIMEOUT", "1s",
                "How long to wait for the peer's acknowledgement before sending again, rounded up "
                "to a power of two times 4.096 us. A peer is lost after RC_VERBS_RETRY_COUNT "
                "tries.",
                between("4us", "8000s").or_limited()),
            make_option<&settings::retry_count>(
                "RC_VERBS_RETRY_COUNT", "6",
                "How often to send again without an acknowledgement. Some drivers (soft RoCE) take "
                "7 for ever.",
                between("0", "7").or_limited()),
            make_option<&settings::rnr_timeout>(
                "RC_VERBS_RNR_TIMEOUT", "1ms",
                "How long a sender has to wait when the receiver has no buffer.",
                between("10us", "655ms").or_limited()),
            make_option<&settings::rnr_retry_count>(
                "RC_VERBS_RNR_RETRY_COUNT", "7",
                "How often a sender tries again when the receiver has no buffer; 7: for ever.",
                between("0", "7").or_limited()),
            make_option<&settings::flow_control>(
                "RC_VERBS_FC_ENABLE", "y",
                "Bound what one sender may have at a receiver that does not progress."),
            make_option<&settings::flow_window>(
                "RC_VERBS_FC_WND_SIZE", "512",
                "Messages that an endpoint sends without an answer of the receiver. While the "
                "answer "
                "is under way there may be more, up to RC_VERBS_FC_SOFT_THRESH of as many.",
                between("4", "65535").or_limited()),
            make_option<&settings::flow_soft>(
                "RC_VERBS_FC_SOFT_THRESH", "0.5",
                "Part of the window that is left when a sender asks for a new one with an answer "
                "that may wait for a message.",
                between("0", "1")),
            make_option<&settings::flow_hard>(
                "RC_VERBS_FC_HARD_THRESH", "0.25",
                "Part of the window that is left when it demands an answer at once.",
                between("0", "1")),
            make_option<&settings::connections_at_hand>(
                "RC_VERBS_MAX_NUM_EPS", "256",
                "How many connections of a worker the device serves without fetching their state "
                "from memory. A program that expects more endpoints than that "
                "(estimated_num_eps) has those that cost no connection, ud_verbs.",
                at_least("1")),
            make_option<&settings::linger>(
                "RC_VERBS_LINGER", "1s",
                "How long destroying an endpoint waits for operations on the program's own memory, "
                "and "
                "closing an interface for messages that its peers have not taken. Where destroyed "
                "endpoints with such messages are many, those that have waited longer are given "
                "up.",
                between("0", "1m")),
        },
    };
    return ucs::config::with_family(std::move(own), "RC_VERBS_", "RC_");
}

}  // namespace

const ucs::config::table& settings::options() {
    static const ucs::config::table table = make_table();
    return table;
}

}  // namespace uct::rc
