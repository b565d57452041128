// Feeds arbitrary bytes to the parser of datagrams, and the parsed datagrams to both sides of a
// connection. Packets must be acknowledged in order, once, and only if they were sent.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "test/fuzz/program.hpp"
#include "uct/ib/ud/base/assembly.hpp"
#include "uct/ib/ud/base/receive_window.hpp"
#include "uct/ib/ud/base/sender.hpp"

namespace {

using namespace uct::ud;

using fuzz::require;

// The sending side: its packets are dropped, and replies are invented.
class sending {
public:
    sending() : protocol_({{16, 4, {}}, 1000, first}) { protocol_.start(); }
    ~sending() {
        packet_list left;
        protocol_.window.abandon(left);
        left.clear();
    }
    void receive(const wire::datagram& message) {
        packet_list done;
        const psn expected(message.head.expected), number(message.head.number);
        std::uint64_t word = 0;
        if (message.body.size() >= sizeof word)
            std::memcpy(&word, message.body.data(), sizeof word);
        if (message.head.acknowledges != 0) protocol_.on_acknowledge(expected, word, now_, done);
        switch (message.head.type) {
            case wire::kind::reply:
                if (const auto welcome = wire::welcome::parse(message.body)) {
                    protocol_.on_reply(*welcome, number, now_, done);
                }
                break;
            case wire::kind::refuse:
                protocol_.on_refuse(number, now_);
                break;
            case wire::kind::ended:
                protocol_.on_unknown(word, now_);
                break;
            default:
                break;
        }
        for (; !done.empty(); done.pop_front()) {
            require(done.front().number == first + acknowledged_++);
            require(done.front().sends > 0);
        }
    }
    void go_on(std::uint64_t time) {
        now_ += time;
        protocol_.on_time(now_);
        if (protocol_.can_accept(1) && packets_.size() < 200) {
            packets_.emplace_back();
            protocol_.window.add(packets_.back());
        }
        if (protocol_.pending_request()) protocol_.request_sent(now_);
        const send_window& window = protocol_.window;
        while (tx_packet* next = protocol_.next_to_send()) {
            require(window.under_way() < window.congestion.allowed());
            protocol_.note_sent(*next, now_);
        }
        require(window.held() == packets_.size() - acknowledged_);
        // The number may exceed the allowed one: a packet may count again, or the limit was halved.
        require(window.under_way() <= window.held());
        require(protocol_.is_ended() || protocol_.current_state() != sender::state::connected ||
                window.empty() || protocol_.deadline() != 0);
    }

private:
    static constexpr psn first{0xfffffff8U};
    sender protocol_;
    std::deque<tx_packet> packets_;
    std::uint32_t acknowledged_ = 0;
    ucs::time::nanoseconds now_ = 1;
};

// The receiving side. Items are packet numbers, so that a wrong order is detected.
class receiving {
public:
    void receive(const wire::datagram& message) {
        using turn = receive_window<std::uint64_t>::turn;
        constexpr std::uint64_t present = std::uint64_t{1} << 32U;
        const psn number(message.head.number);
        switch (window_.turn_of(number)) {
            case turn::now:
                take(message);
                while (const std::uint64_t kept = window_.take()) {
                    require(kept == (present | window_.expected().value()));
                    window_.advance();
                }
                break;
            case turn::early:
                require(window_.keep(number, present | number.value()));
                break;
            case turn::again:
            case turn::far:
                break;
        }
    }

private:
    void take(const wire::datagram& message) {
        constexpr std::size_t most = 64;
        window_.advance();
        const bool first = (message.head.flags & wire::first) != 0;
        const bool last = (message.head.flags & wire::last) != 0;
        if (parts_.add(first, last, message.body, most) == assembly::outcome::whole) {
            require(parts_.message().size() <= most);
        }
    }
    receive_window<std::uint64_t> window_{psn(0xfffffff0U)};
    assembly parts_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sending out;
    receiving in;
    out.go_on(1);
    while (size > 2) {
        const std::size_t length = std::min<std::size_t>(data[0], size - 2);
        const std::uint64_t time = data[1] * std::uint64_t{200};
        const fuzz::exact_copy exact(std::as_bytes(std::span(data + 2, length)));
        data += 2 + length;
        size -= 2 + length;
        if (const auto found = wire::parse(exact.bytes())) {
            static_cast<void>(wire::hello::parse(found->body));
            out.receive(*found);
            if (found->head.type == wire::kind::data) in.receive(*found);
        }
        out.go_on(time);
    }
    if (const auto address = wire::address::parse(std::as_bytes(std::span(data, size)))) {
        std::vector<std::byte> again(wire::address::size);
        address->pack(again);
        require(std::equal(again.begin(), again.end(), reinterpret_cast<const std::byte*>(data)));
    }
    return 0;
}
