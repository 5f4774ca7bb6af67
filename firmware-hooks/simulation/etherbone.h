// SPDX-License-Identifier: Apache-2.0
// Etherbone over UDP: requests are carried out word by word on a bus, in the thread that polls.
//
// Source: docs/formats.md sections 1 (error answers) and 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace freezeframe {

// The register side of a board: byte addresses, 32-bit words.
class Bus {
public:
    virtual ~Bus() = default;
    // All ones for an error answer, which this transport cannot tell otherwise.
    virtual std::uint32_t read(std::uint32_t address) = 0;
    virtual void write(std::uint32_t address, std::uint32_t word) = 0;
};

// Answers a request of at most 65,535 bytes. The reply never has more words than the request asked for.
//
// A datagram that is not one whole request is not answered: returns 0. `reply` must have room for as many bytes as
// the request has, and 8 more.
std::size_t answer(Bus& bus, const std::uint8_t* request, std::size_t request_B, std::uint8_t* reply);

// A UDP socket that serves one bus. Nothing happens outside poll().
class EtherboneServer {
public:
    // Throws std::runtime_error with one line: an address that is none, or a port that is taken.
    EtherboneServer(const std::string& host, int port);
    ~EtherboneServer();
    EtherboneServer(const EtherboneServer&) = delete;
    EtherboneServer& operator=(const EtherboneServer&) = delete;

    int port() const { return port_; }
    // Answers the datagrams that wait, at most `most`; returns how many.
    int poll(Bus& bus, int most);
    // Sleeps until a datagram waits, at most so long.
    void wait(int milliseconds) const;

private:
    int socket_ = -1;
    int port_ = 0;
};

}  // namespace freezeframe
