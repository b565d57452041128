#include "ucp/core/config.hpp"

#include "ucs/config/enum_type.hpp"

namespace ucs::config {

namespace {
inline constexpr enum_name<ucp::rndv_scheme> rndv_scheme_names[] = {
    {"auto", ucp::rndv_scheme::automatic},
    {"get_zcopy", ucp::rndv_scheme::get_zcopy},
    {"get_ppln", ucp::rndv_scheme::get_zcopy},
    {"rkey_ptr", ucp::rndv_scheme::get_zcopy},
    {"am", ucp::rndv_scheme::am},
    {"put_zcopy", ucp::rndv_scheme::put_zcopy},
    {"put_ppln", ucp::rndv_scheme::put_ppln},
};

inline constexpr enum_name<ucp::protocol_pages> protocol_pages_names[] = {
    {"n", ucp::protocol_pages::none},     {"no", ucp::protocol_pages::none},
    {"off", ucp::protocol_pages::none},   {"0", ucp::protocol_pages::none},
    {"false", ucp::protocol_pages::none}, {"y", ucp::protocol_pages::all},
    {"yes", ucp::protocol_pages::all},    {"on", ucp::protocol_pages::all},
    {"1", ucp::protocol_pages::all},      {"true", ucp::protocol_pages::all},
    {"used", ucp::protocol_pages::all},
};
}  // namespace

template<>
const value_type& value_type_of<ucp::rndv_scheme>() {
    return enum_type<rndv_scheme_names>();
}

template<>
const value_type& value_type_of<ucp::protocol_pages>() {
    return enum_type<protocol_pages_names>();
}

}  // namespace ucs::config

namespace ucp {

using ucs::config::make_option;

const ucs::config::table& config::options() {
    static const ucs::config::table table{
        "UCP: protocols",
        {
            make_option<&config::transports>(
                "TLS", "all",
                "Transports to use: a comma separated list, '^' in front to exclude the listed "
                "ones instead. 'sm' and 'shm' stand for posix and cma. Example: 'sm,self'."),
            make_option<&config::devices>(
                "NET_DEVICES", "all",
                "Network devices to use, such as 'eth0,eth1'; '^' in front excludes."),
            make_option<&config::rndv_threshold>(
                "RNDV_THRESH", "auto",
                "Message size from which rendezvous is used. 'auto': where the predicted costs say "
                "so; 'inf': never, as far as another protocol can serve. 'intra' stands for "
                "transports inside a host, 'inter' for those of the network."),
            make_option<&config::bcopy_threshold>(
                "BCOPY_THRESH", "auto",
                "Message size up to which data goes inside the send call (short protocol)."),
            make_option<&config::zcopy_threshold>(
                "ZCOPY_THRESH", "auto",
                "Size of a fragment from which it is sent from where it lies instead of being "
                "copied into the transport's buffer."),
            make_option<&config::scheme>(
                "RNDV_SCHEME", "auto",
                "How the data of a rendezvous moves. 'auto': the receiver chooses by what it "
                "predicts and observes. 'get_zcopy', 'get_ppln', 'rkey_ptr': the receiver reads "
                "the sender's memory where it can. 'put_zcopy': the sender's device writes to the "
                "receiver's memory, where there is one; 'put_ppln': from buffers that the data is "
                "copied to, so that the sender's memory need not be registered. 'am', and whatever "
                "cannot be done: the sender streams through the transport. docs/protocols.md has "
                "the details."),
            make_option<&config::fragment>(
                "RNDV_FRAG_SIZE", "512k",
                "Largest piece sent from where it lies in one message, as far as the transport "
                "takes as much, and length of the parts of host memory through which data of "
                "devices flows. Other types of memory than host have no meaning here."),
            make_option<&config::fragment_count>(
                "RNDV_FRAG_ALLOC_COUNT", "64",
                "Number of parts of host memory, each of UCX_RNDV_FRAG_SIZE bytes, through which a "
                "worker moves data of devices at the same time. Each transfer has one in any "
                "case."),
            make_option<&config::rndv_rails>(
                "MAX_RNDV_RAILS", "2",
                "Number of devices that read or write the data of a rendezvous at the same time, "
                "if both sides have so many of one transport; at most 4. 1: only the device that "
                "carries messages.",
                ucs::config::at_least("1")),
            make_option<&config::rma_rails>("MAX_RMA_RAILS", "2",
                                            "The same for puts and gets of the program.",
                                            ucs::config::at_least("1")),
            make_option<&config::rail_chunk>(
                "MIN_RNDV_CHUNK_SIZE", "16k",
                "Shortest piece of a transfer over several devices; a transfer shorter than two "
                "pieces uses one device.",
                ucs::config::between("1k", "1g")),
            make_option<&config::proto_info>(
                "PROTO_INFO", "n",
                "Print, for every new pair of lanes, which protocol serves which size and why. "
                "'used' is the same as 'y': only pairs that are in use have a table."),
            make_option<&config::probe_host>(
                "HOST_PROBE", "y",
                "Measure the cost of copies on this host at the first start and keep the figures "
                "in the user's cache folder. With 'n' built-in figures are used."),
            make_option<&config::poll_slow_every>(
                "POLL_SLOW_EVERY", "16",
                "Number of polls of shared memory between two polls of transports that need a "
                "system call, while both are in use.",
                ucs::config::between("1", "1024")),
            make_option<&config::unexpected_window>(
                "UNEXPECTED_WINDOW", "1m",
                "Eager window: bytes of tagged messages that a worker sends to another one before "
                "it needs new credits, 384 for each message included. Beyond the window messages "
                "begin with a request to send, so their data takes no memory there. 'inf': no "
                "limit; the peers then need UCX_UNEXPECTED_LIMIT=inf, or may cut this worker off.",
                ucs::config::at_least("0")),
            make_option<&config::unexpected_limit>(
                "UNEXPECTED_LIMIT", "64m",
                "Bytes of tagged messages that a worker stores for receives to come before it "
                "makes their senders ask before they send data. Each sender may exceed it by one "
                "window and the message that exceeds the window. 'inf': no limit.",
                ucs::config::at_least("0")),
            make_option<&config::unexpected_hard_limit>(
                "UNEXPECTED_HARD_LIMIT", "auto",
                "Bytes of tagged messages and requests to send that a worker stores at most. "
                "Beyond that the sender with most above UCX_UNEXPECTED_LIMIT is cut off, unless it "
                "has no more than a well-behaved sender may have: its endpoint fails with 'A limit "
                "was exceeded', and its messages here are dropped. If senders have ended, their "
                "oldest messages are dropped; over ud_verbs a live sender counts as ended when it "
                "is silent for twice its UCX_UD_VERBS_TIMEOUT. 'auto': UCX_UNEXPECTED_LIMIT and an "
                "eighth of the memory that the process may use, at least 256 MB of it. With a "
                "size, a sender may have no more than the difference to UCX_UNEXPECTED_LIMIT: "
                "without a difference, well-behaved senders may be cut off, too."),
            make_option<&config::unexpected_announcements>(
                "UNEXPECTED_ANNOUNCEMENTS", "4096",
                "Requests to send of tagged messages that a worker sends to another one ahead of "
                "its receives. Further tagged sends wait, in order, until some of them are "
                "received, or until the receiver waits for a message that it does not have. 'inf': "
                "no limit.",
                ucs::config::at_least("1")),
            make_option<&config::stream_window>(
                "STREAM_WINDOW", "1m",
                "Bytes of a stream that an endpoint holds for a program that does not read them; "
                "then its peer waits. At least 256k.",
                ucs::config::between("256k", "1g")),
            make_option<&config::cm_timeout>(
                "CM_TIMEOUT", "10s",
                "Time limit for connecting to a listener's socket address, and for the client's "
                "connection request after that.",
                ucs::config::between("1ms", "inf")),
            make_option<&config::cm_transports>(
                "SOCKADDR_TLS_PRIORITY", "rdmacm,tcp",
                "Transports of the connection manager between client and server by socket address, "
                "in the order in which a client tries them: 'rdmacm', between RDMA devices and "
                "without IP traffic, or 'tcp'. A server listens on all that are named."),
            make_option<&config::keepalive_interval>(
                "KEEPALIVE_INTERVAL", "20s",
                "A peer that does not answer is found within this time, if an endpoint to it has "
                "error handling mode PEER. Shared memory reports dead peers without probes, and "
                "the kernel probes idle TCP connections, see TCP_KEEPIDLE. Unanswered connection "
                "requests are repeated at this interval. 'inf': never.",
                ucs::config::between("1s", "inf")),
            make_option<&config::keepalive_peers>(
                "KEEPALIVE_NUM_EPS", "128",
                "Number of peers that are probed in one KEEPALIVE_INTERVAL, in turn; 'inf': all.",
                ucs::config::at_least("1")),
        }};
    return table;
}

}  // namespace ucp
