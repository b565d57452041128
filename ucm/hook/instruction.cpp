#include "ucm/hook/instruction.hpp"

#include <cstring>

namespace ucm::hook {
namespace {

// The letters name the parts that follow an opcode. The rows are the upper four bits of the opcode,
// the columns the lower.
//   .  nothing              m  ModRM operand            s  branch by one byte
//   b  constant of 1 byte   B  operand and constant     n  branch by four bytes
//   d  constant of 4 bytes  D  operand and constant     q  constant of 4 or 8 bytes
//   w  constant of 2 bytes  o  address of 8 bytes       -  unknown, or a prefix
//   t, T  operand, and for two of the eight selectors a constant of 1 or 4 bytes
constexpr char one_byte[16][17] = {
    "mmmmbd--mmmmbd--", "mmmmbd--mmmmbd--", "mmmmbd--mmmmbd--", "mmmmbd--mmmmbd--",
    "----------------", "................", "---m----dDbB....", "ssssssssssssssss",
    "BD-Bmmmmmmmmmmmm", "..........-.....", "oooo....bd......", "bbbbbbbbqqqqqqqq",
    "BBw.--BD-.w..b-.", "mmmm---.mmmmmmmm", "ssssbbbbnn-s....", "-.--..tT......mm",
};
constexpr char two_byte[16][17] = {
    "mmmm-.....-.-m.-", "mmmmmmmmmmmmmmmm", "mmmm----mmmmmmmm", "......-.--------",
    "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "BBBBmmm.mm--mmmm",
    "nnnnnnnnnnnnnnnn", "mmmmmmmmmmmmmmmm", "...mBm--...mBmmm", "mmmmmmmmmmBmmmmm",
    "mmBmBBBm........", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm",
};

char entry_of(const char (&table)[16][17], std::uint8_t opcode) noexcept {
    return table[opcode >> 4U][opcode & 15U];
}

// Reads the bytes of one instruction from left to right.
class decoder {
public:
    explicit decoder(const std::uint8_t* code) noexcept : begin_(code), cursor_(code) {}

    instruction run() noexcept {
        if (!read_prefixes()) return {};
        const char follows = read_opcode();
        if (follows == '-') return {};
        read_rest(follows);
        constexpr std::size_t longest = 15;
        const auto length = static_cast<std::size_t>(cursor_ - begin_);
        if (length > longest) return {};
        found_.length = static_cast<std::uint8_t>(length);
        return found_;
    }

private:
    // Returns false if there are too many.
    bool read_prefixes() noexcept {
        for (;; ++cursor_) {
            switch (*cursor_) {
                case 0x64:
                case 0x65:
                    found_.has_segment = true;
                    continue;
                case 0x66:
                    halves_constants_ = true;
                    found_.has_prefix = true;
                    continue;
                case 0x2e:
                case 0x36:
                case 0x3e:
                case 0x26:
                case 0xf0:
                case 0xf2:
                case 0xf3:
                case 0x67:
                    found_.has_prefix = true;
                    continue;
                default:
                    if ((*cursor_ & 0xf0U) == 0x40) rex_ = *cursor_++;
                    found_.is_wide = (rex_ & 8U) != 0;
                    return cursor_ - begin_ < 5;
            }
        }
    }

    // Returns the letter of the tables.
    char read_opcode() noexcept {
        const std::uint8_t first = *cursor_++;
        if (first == 0xc4 || first == 0xc5 || first == 0x62) return read_vector_opcode(first);
        found_.opcode = first;
        if (first != 0x0f) {
            found_.opcode_form = instruction::form::one_byte;
            return entry_of(one_byte, first);
        }
        const std::uint8_t second = *cursor_++;
        if (second == 0x38 || second == 0x3a) {
            ++cursor_;
            return second == 0x38 ? 'm' : 'B';
        }
        found_.opcode = second;
        found_.opcode_form = instruction::form::two_byte;
        return entry_of(two_byte, second);
    }

    // Skips a VEX or EVEX prefix, which names the table of the opcode.
    char read_vector_opcode(std::uint8_t first) noexcept {
        const unsigned table = first == 0xc5 ? 1U : *cursor_ & (first == 0xc4 ? 31U : 7U);
        cursor_ += first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;
        const std::uint8_t opcode = *cursor_++;
        switch (table) {
            case 1:
                return entry_of(two_byte, opcode) == 'n' ? '-' : entry_of(two_byte, opcode);
            case 2:
            case 5:
            case 6:
                return 'm';
            case 3:
                return 'B';
            default:
                return '-';
        }
    }

    void read_rest(char follows) noexcept {
        const std::size_t full = halves_constants_ && !found_.is_wide ? 2 : 4;
        if (std::strchr("mBDtT", follows) != nullptr) {
            read_operand();
        } else if (found_.opcode_form == instruction::form::one_byte) {
            found_.base = extended(found_.opcode, 1);
        }
        const bool has_constant = (found_.reg & 7U) < 2;
        switch (follows) {
            case 'b':
            case 'B':
                return read_constant(1);
            case 'd':
            case 'D':
                return read_constant(full);
            case 'q':
                return read_constant(found_.is_wide ? 8 : full);
            case 'w':
                return read_constant(2);
            case 'o':
                return read_constant(8);
            case 't':
                return has_constant ? read_constant(1) : void();
            case 'T':
                return has_constant ? read_constant(full) : void();
            case 's':
                return read_branch(1);
            case 'n':
                return read_branch(4);
            default:
                return;
        }
    }

    // Reads a ModRM byte with its SIB byte and displacement.
    void read_operand() noexcept {
        const std::uint8_t modrm = *cursor_++;
        const unsigned mode = modrm >> 6U;
        found_.has_operand = true;
        found_.in_register = mode == 3;
        found_.reg = extended(modrm >> 3U, 4);
        found_.has_base = true;
        found_.base = extended(modrm, 1);
        if (found_.in_register) return;
        unsigned base = modrm & 7U;
        if (base == 4) {  // a SIB byte follows
            const std::uint8_t sib = *cursor_++;
            found_.has_index = extended(sib >> 3U, 2) != rsp;
            found_.base = extended(sib, 1);
            base = sib & 7U;
        }
        if (mode == 0 && base == 5) {
            found_.has_base = false;
            const bool from_next_instruction = (modrm & 7U) == 5;
            if (from_next_instruction) {
                found_.rip_offset = static_cast<std::uint8_t>(cursor_ - begin_);
            }
        }
        if (mode == 1) {
            found_.displacement = static_cast<std::int8_t>(*cursor_++);
        } else if (mode == 2 || !found_.has_base) {
            found_.displacement = read<std::int32_t>();
        }
    }

    void read_constant(std::size_t size) noexcept {
        if (size == 1) {
            found_.immediate = static_cast<std::int8_t>(*cursor_);
        } else if (size == 2) {
            std::int16_t value;
            std::memcpy(&value, cursor_, sizeof(value));
            found_.immediate = value;
        } else {
            std::memcpy(&found_.immediate, cursor_, sizeof(found_.immediate));
        }
        cursor_ += size;
    }

    void read_branch(std::uint8_t size) noexcept {
        found_.branch_size = size;
        found_.displacement =
            size == 1 ? static_cast<std::int8_t>(*cursor_++) : read<std::int32_t>();
    }

    template<class T>
    T read() noexcept {
        T value;
        std::memcpy(&value, cursor_, sizeof(value));
        cursor_ += sizeof(value);
        return value;
    }

    // Adds a bit of the REX prefix to the three bits of a register's number.
    [[nodiscard]] std::uint8_t extended(unsigned bits, unsigned rex_bit) const noexcept {
        return static_cast<std::uint8_t>((bits & 7U) | ((rex_ & rex_bit) != 0 ? 8U : 0U));
    }

    const std::uint8_t* begin_;
    const std::uint8_t* cursor_;
    std::uint8_t rex_ = 0;
    bool halves_constants_ = false;
    instruction found_;
};

}  // namespace

instruction decode(const std::uint8_t* code) noexcept {
    return decoder(code).run();
}

bool is_branch_mark(const std::uint8_t* code) noexcept {
    constexpr std::uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return std::memcmp(code, mark, sizeof(mark)) == 0;
}

}  // namespace ucm::hook
