// SPDX-License-Identifier: Apache-2.0
#include "etherbone.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace freezeframe {
namespace {

constexpr std::size_t kLargest_B = 1 << 16;  // no UDP payload is longer
constexpr std::uint32_t kMagic = 0x4E6F;
constexpr std::uint32_t kPacket = 0x4E6F1044;
constexpr std::uint32_t kProbeReply = 0x4E6F1244;
constexpr std::uint32_t kProbeReplyFlag = 1 << 9;
constexpr std::uint32_t kProbeFlag = 1 << 8;
constexpr std::uint32_t kRecord = 0x000F0000;
constexpr std::uint8_t kEndOfCycle = 0x10;  // a record flag without a meaning on a bus without cycles

std::uint32_t word_at(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

void put_word(std::uint8_t* at, std::uint32_t word) {
    for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

// One record of a request; false where it is none that we carry out.
struct Record {
    unsigned writes, reads;
    const std::uint8_t* base;    // write address, then the words
    const std::uint8_t* back;    // return address, then the addresses to read
    std::size_t bytes;
};

bool take_record(const std::uint8_t* at, std::size_t left_B, Record& record) {
    if (left_B < 4) return false;
    if (at[0] & ~kEndOfCycle) return false;
    record.writes = at[2];
    record.reads = at[3];
    if ((record.writes || record.reads) && at[1] != 0x0F) return false;
    const std::size_t write_B = record.writes ? 4 + 4 * record.writes : 0;
    const std::size_t read_B = record.reads ? 4 + 4 * record.reads : 0;
    record.bytes = 4 + write_B + read_B;
    if (left_B < record.bytes) return false;
    record.base = at + 4;
    record.back = at + 4 + write_B;
    return true;
}

}  // namespace

std::size_t answer(Bus& bus, const std::uint8_t* request, std::size_t request_B, std::uint8_t* reply) {
    if (request_B < 8) return 0;
    const std::uint32_t head = word_at(request);
    if (head >> 16 != kMagic || (head >> 12 & 0xF) != 1 || (head & 0xFF) != 0x44) return 0;
    if (head & kProbeReplyFlag) return 0;
    if (head & kProbeFlag) {
        put_word(reply, kProbeReply);
        put_word(reply + 4, 0);
        return 8;
    }
    // All of it is looked at before any of it is carried out.
    Record record;
    std::size_t at = 8;
    while (at < request_B) {
        if (!take_record(request + at, request_B - at, record)) return 0;
        at += record.bytes;
    }
    if (at == 8) return 0;
    std::size_t out = 8;
    for (at = 8; at < request_B; at += record.bytes) {
        take_record(request + at, request_B - at, record);
        const std::uint32_t base = record.writes ? word_at(record.base) : 0;
        for (unsigned i = 0; i < record.writes; ++i) bus.write(base + 4 * i, word_at(record.base + 4 + 4 * i));
        if (!record.reads) continue;
        put_word(reply + out, kRecord | record.reads << 8);
        std::memcpy(reply + out + 4, record.back, 4);
        for (unsigned i = 0; i < record.reads; ++i) {
            put_word(reply + out + 8 + 4 * i, bus.read(word_at(record.back + 4 + 4 * i)));
        }
        out += 8 + 4 * record.reads;
    }
    if (out == 8) return 0;
    put_word(reply, kPacket);
    put_word(reply + 4, 0);
    return out;
}

EtherboneServer::EtherboneServer(const std::string& host, int port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    const std::string where = host + ":" + std::to_string(port);
    const int wrong = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (wrong) throw std::runtime_error("cannot serve at " + where + ": " + gai_strerror(wrong));
    socket_ = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int buffer_B = 1 << 20;  // several full windows of requests; the kernel may give less
    bool bound = socket_ >= 0;
    if (bound) {
        setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &buffer_B, sizeof buffer_B);
        setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &buffer_B, sizeof buffer_B);
        bound = bind(socket_, found->ai_addr, found->ai_addrlen) == 0;
    }
    const int reason = errno;
    freeaddrinfo(found);
    if (!bound) {
        if (socket_ >= 0) close(socket_);
        throw std::runtime_error("cannot serve at " + where + ": " + std::strerror(reason) +
                                 "; choose another port, or 0 for a free one");
    }
    char service[NI_MAXSERV] = "";
    sockaddr_storage own{};
    socklen_t own_B = sizeof own;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &own_B);
    getnameinfo(reinterpret_cast<sockaddr*>(&own), own_B, nullptr, 0, service, sizeof service, NI_NUMERICSERV);
    port_ = std::stoi(service);
}

EtherboneServer::~EtherboneServer() { close(socket_); }

int EtherboneServer::poll(Bus& bus, int most) {
    static thread_local std::vector<std::uint8_t> request(kLargest_B), reply(kLargest_B + 8);
    int handled = 0;
    while (handled < most) {
        sockaddr_storage sender{};
        socklen_t sender_B = sizeof sender;
        const ssize_t length = recvfrom(socket_, request.data(), request.size(), 0,
                                        reinterpret_cast<sockaddr*>(&sender), &sender_B);
        if (length < 0) {
            if (errno == EINTR || errno == ECONNREFUSED) continue;  // a former asker may be gone: the next one counts
            break;
        }
        ++handled;
        const std::size_t reply_B = answer(bus, request.data(), static_cast<std::size_t>(length), reply.data());
        // An answer that cannot be sent is asked for again by the client.
        if (reply_B) sendto(socket_, reply.data(), reply_B, 0, reinterpret_cast<sockaddr*>(&sender), sender_B);
    }
    return handled;
}

void EtherboneServer::wait(int milliseconds) const {
    pollfd waiting{socket_, POLLIN, 0};
    ::poll(&waiting, 1, milliseconds);
}

}  // namespace freezeframe
