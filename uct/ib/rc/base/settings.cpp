#include "uct/ib/rc/base/settings.hpp"

namespace uct::rc {

const ucs::config::table& settings::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table own{
        "RC transport on verbs",
        {
            make_option<&settings::segment>(
                "RC_VERBS_SEG_SIZE", "8256",
                "Longest message, and size of the buffers that messages are received in.",
                between("2k", "1m").or_limited()),
            make_option<&settings::tx_queue>(
                "RC_VERBS_TX_QUEUE_LEN", "256",
                "Work requests that may be outstanding on one endpoint.",
                between("4", "32768").or_limited()),
            make_option<&settings::tx_min_inline>(
                "RC_VERBS_TX_MIN_INLINE", "64",
                "Bytes of inline data that a work request should carry, so that short messages "
                "need "
                "no buffer. The device may offer more, which is used, or less.",
                between("0", "1024").or_limited()),
            make_option<&settings::tx_min_pieces>(
                "RC_VERBS_TX_MIN_SGE", "5",
                "Pieces of memory that one message may be gathered from, its header included.",
                between("2", "16").or_limited()),
            make_option<&settings::tx_moderation>("RC_VERBS_TX_CQ_MODERATION", "64",
                                                  "One of so many work requests is signaled, "
                                                  "unless a caller waits for its completion; "
                                                  "at most a quarter of the send queue.",
                                                  between("1", "32768").or_limited()),
            make_option<&settings::tx_completions>(
                "RC_VERBS_TX_CQ_LEN", "4096",
                "Work requests that may be outstanding on all endpoints of an interface together.",
                between("4", "4194304").or_limited()),
            make_option<&settings::rx_queue>(
                "RC_VERBS_RX_QUEUE_LEN", "4095",
                "Messages that may arrive, on all endpoints of an interface together, before the "
                "program makes progress. Then senders have to wait.",
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
                                             "auto is the smaller MTU of both ports.",
                                             between("256", "4096").or_auto()),
            make_option<&settings::read_depth>(
                "RC_VERBS_MAX_RD_ATOMIC", "auto",
                "Reads and atomic operations that may be outstanding on one endpoint; auto is the "
                "limit of both devices.",
                between("1", "255").or_auto().or_limited()),
            make_option<&settings::timeout>(
                "RC_VERBS_TIMEOUT", "1s",
                "How long to wait for the peer's acknowledgement before sending again, rounded up "
                "to a power of two times 4.096 us. A peer is lost after RC_VERBS_RETRY_COUNT "
                "tries.",
                between("4us", "8000s").or_limited()),
            make_option<&settings::retry_count>(
                "RC_VERBS_RETRY_COUNT", "6",
                "How often to send again without an acknowledgement. Some drivers (soft RoCE) "
                "interpret 7 as for ever.",
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
                "Limit the messages of one sender at a receiver without progress."),
            make_option<&settings::flow_window>(
                "RC_VERBS_FC_WND_SIZE", "512",
                "Messages that an endpoint sends without a grant of the receiver. While a grant is "
                "in flight there may be more, up to RC_VERBS_FC_SOFT_THRESH of as many.",
                between("4", "65535").or_limited()),
            make_option<&settings::flow_soft>(
                "RC_VERBS_FC_SOFT_THRESH", "0.5",
                "Fraction of the window that is left when a sender requests a new one, whose grant "
                "may wait for a message.",
                between("0", "1")),
            make_option<&settings::flow_hard>(
                "RC_VERBS_FC_HARD_THRESH", "0.25",
                "Fraction of the window that is left when it requests a grant at once.",
                between("0", "1")),
            make_option<&settings::connections_at_hand>(
                "RC_VERBS_MAX_NUM_EPS", "256",
                "How many connections of a worker the device serves without fetching their state "
                "from memory. A program that expects more endpoints than that "
                "(estimated_num_eps) uses ud_verbs, whose endpoints need no connection.",
                at_least("1")),
            make_option<&settings::linger>(
                "RC_VERBS_LINGER", "1s",
                "How long destroying an endpoint waits for operations on the program's own memory, "
                "and closing an interface for messages that its peers have not received. If many "
                "destroyed endpoints have such messages, those that have waited longer are given "
                "up.",
                between("0", "1m")),
        },
    };
    static const ucs::config::table table = ucs::config::with_family(own, "RC_VERBS_", "RC_");
    return table;
}

}  // namespace uct::rc
