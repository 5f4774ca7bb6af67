// SPDX-License-Identifier: Apache-2.0
// Answers packets from standard input, each led by its length in four little-endian bytes, on a bus that is a formula.
#include "etherbone.h"

#include <cstdio>
#include <map>
#include <vector>

struct FormulaBus final : freezeframe::Bus {
    std::map<std::uint32_t, std::uint32_t> written;
    std::uint32_t read(std::uint32_t address) override {
        if (address & 3 || address >= 0x80000000u) return 0xFFFFFFFFu;
        const auto found = written.find(address);
        return found == written.end() ? address * 2654435761u : found->second;
    }
    void write(std::uint32_t address, std::uint32_t word) override {
        if (!(address & 3) && address < 0x80000000u) written[address] = word;
    }
};

int main() {
    FormulaBus bus;
    std::uint32_t length = 0;
    while (std::fread(&length, 4, 1, stdin) == 1) {
        // Exactly as long as it is, so that the sanitizer sees a byte read beyond its end.
        std::vector<std::uint8_t> request(length), reply(length + 8);
        if (length && std::fread(request.data(), 1, length, stdin) != length) return 1;
        const std::uint32_t reply_B =
            static_cast<std::uint32_t>(freezeframe::answer(bus, request.data(), length, reply.data()));
        std::fwrite(&reply_B, 4, 1, stdout);
        std::fwrite(reply.data(), 1, reply_B, stdout);
    }
    return 0;
}
