// Data in randomly cut pieces of memory.
#pragma once

#include <ucp/api/ucp_dt.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

namespace test {

inline std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& each : bytes)
        each = static_cast<std::byte>(random() & 0xff);
    return bytes;
}

// `size` bytes in up to `count` pieces of exactly sized allocations, so that a sanitizer detects
// any access outside of them. Some pieces are empty, with and without memory.
class scattered {
public:
    scattered(std::mt19937_64& random, std::size_t size, std::size_t count) {
        std::vector<std::size_t> cuts{0, size};
        while (cuts.size() < count + 1)
            cuts.push_back(random() % (size + 1));
        std::sort(cuts.begin(), cuts.end());
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            const std::size_t length = cuts[i + 1] - cuts[i];
            memory_.push_back(std::make_unique<std::byte[]>(length));
            const bool nowhere = length == 0 && random() % 2 == 0;
            pieces_.push_back({nowhere ? nullptr : memory_.back().get(), length});
        }
    }

    [[nodiscard]] const std::vector<ucp_dt_iov_t>& pieces() const { return pieces_; }

    void fill(const std::vector<std::byte>& from) {
        std::size_t offset = 0;
        for (const ucp_dt_iov_t& piece : pieces_) {
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), piece.length,
                        static_cast<std::byte*>(piece.buffer));
            offset += piece.length;
        }
    }
    [[nodiscard]] std::vector<std::byte> content() const {
        std::vector<std::byte> all;
        for (const ucp_dt_iov_t& piece : pieces_) {
            const auto* begin = static_cast<const std::byte*>(piece.buffer);
            all.insert(all.end(), begin, begin + piece.length);
        }
        return all;
    }

private:
    std::vector<std::unique_ptr<std::byte[]>> memory_;
    std::vector<ucp_dt_iov_t> pieces_;
};

}  // namespace test
