// Arbitrary bytes as the address of an RDMA port, as connection data or as a memory key: the
// parsers must refuse them, or packing must return the same bytes. The first input byte chooses the
// parser.
#include <vector>

#include "test/fuzz/program.hpp"
#include "uct/ib/base/memory/domain.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"

namespace {

using fuzz::require;
using namespace uct::ib;
using uct::rc::wire::connection_data;

// Packing an accepted value must return the same bytes.
template<class Known>
std::optional<Known> parse(std::span<const std::byte> input) {
    const std::optional<Known> known = Known::parse(input);
    if (!known) return known;
    std::vector<std::byte> again(Known::size);
    known->pack(again);
    require(std::equal(input.begin(), input.end(), again.begin(), again.end()));
    return known;
}

// The attributes of a queue pair must have only values that are defined for its device.
void connect(const address& peer, const connection_data& peer_data) {
    uct::rc::port_setup port;
    const uct::rc::settings options;
    const ibv_qp_attr receive = uct::rc::to_receive(port, options, peer, peer_data).attr;
    require(receive.path_mtu >= IBV_MTU_256 && receive.path_mtu <= port.mtu);
    require(receive.dest_qp_num < 1U << 24 && receive.rq_psn < 1U << 24);
    require(receive.ah_attr.is_global != 0 || receive.ah_attr.dlid != 0);
    const ibv_qp_attr send = uct::rc::to_send(port, options, peer, peer_data).attr;
    require(send.max_rd_atomic > 0 && send.max_rd_atomic <= port.read_depth);
}

address some_peer() {
    address made;
    made.link = uct::ib::gid_type::roce_v2;
    made.gid.fill(1);
    made.mtu = IBV_MTU_1024;
    made.read_depth = 1;
    return made;
}

void reach(const memory_key& key) {
    const uct::ib::remote_region region(key, key.allowed);
    require(region.covers(key.base, key.length));
    require(!region.covers(key.base, key.length + 1) || key.length + 1 == 0);
    require(!region.covers(key.base - 1, 1));
    require(!region.covers(key.base + key.length, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const fuzz::exact_copy exact(std::as_bytes(std::span(data + 1, size - 1)));
    const std::span<const std::byte> input = exact.bytes();
    switch (data[0] % 3) {
        case 0:
            if (const auto peer = parse<address>(input)) connect(*peer, {.mtu = IBV_MTU_1024});
            break;
        case 1:
            if (const auto peer_data = parse<connection_data>(input))
                connect(some_peer(), *peer_data);
            break;
        default:
            if (const auto key = parse<memory_key>(input)) reach(*key);
            break;
    }
    return 0;
}
