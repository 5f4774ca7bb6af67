// The bench of a design of other people's blocks: frames in, a receiver that waits now and then, streams spoilt between the blocks.
//
// Arguments: key=value of Plan below, and faults as in sites.h. It prints the recorder's address; a line on standard input starts the
// traffic, and its answer is one line of JSON. Then it serves the registers until standard input ends. Until it is frozen, the
// simulation runs on only while a register is accessed, so the same arguments give the same run whatever the computer is doing.
#include <cinttypes>
#include <cstdio>
#include <map>
#include <random>

#include <poll.h>
#include <unistd.h>

#include "Vtop.h"
#include "pins.h"
#include "sites.h"
#include "verilated.h"

#define JOIN(a, b) a##b
#define PIN(p, name) JOIN(p, name)
#define STREAM(top, p, bytes) \
    Stream { &(top).p##_valid, &(top).p##_ready, &(top).p##_last, &(top).p##_payload_data, &(top).PIN(p, MARK), &(top).PIN(p, BAD), bytes, ONE_HOT }

namespace {

constexpr int kFirstB = 64, kLengths = 9000 - 64 + 1;
constexpr long long kLongest = 10'000'000;  // cycles of sys, in which a receiver that is blocked has had the FIFO drop a frame
constexpr std::uint32_t kFreeze = 0x108;  // ctl.freeze, docs/card-map.md

struct Plan {
    std::map<std::string, long long> value = {
        {"seed", 0}, {"shortest", 64}, {"longest", 300},  // bytes with FCS
        {"every_length", 0},                              // of so many frames one is of the next length, 64 to 9,000 B
        {"pause", 20},                                    // up to twice as many cycles between two frames
        {"lazy", 0}, {"lazy_cycles", 20},                 // of 1,000 cycles so many begin a wait of the receiver, up to so long
        {"alike", 0},                                     // every so many frames are the same
        {"hit", -1}, {"hit_B", 0}, {"bad", 0},            // a frame of that length; bits of it that are wrong, told by its user bit
        {"after", 8}, {"drain", 100}, {"wait", 400000},   // frames after it, cycles then; most cycles after it
        {"stuck", -1}, {"block", -1},                     // packets after which the receiver stops, for ever or until a frame was dropped
    };
    std::vector<Fault> faults;
    void take(const std::string& word) {
        const auto at = word.find('=');
        if (at == std::string::npos) faults.emplace_back(word);
        else value.at(word.substr(0, at)) = std::stoll(word.substr(at + 1));
    }
    long long operator[](const char* name) const { return value.at(name); }
};

// Packets as they pass a place; the newest eight are kept.
class Log {
public:
    void add(const Beat& beat, unsigned bytes) {
        Bytes& packet = ring_[count_ % 8];
        if (begins_) packet.clear();
        for (unsigned n = 0; n < bytes; ++n) if (beat.on >> n & 1) packet.push_back(beat.data[n]);
        begins_ = beat.last;
        count_ += beat.last;
    }
    long long count() const { return count_; }
    const Bytes& packet(long long number) const { return ring_[number % 8]; }

private:
    Bytes ring_[8];
    long long count_ = 0;
    bool begins_ = true;
};

class Generator {
public:
    Generator(const Plan& plan, Stream to) : plan_(plan), to_(to), draw_(plan["seed"]), gaps_(draw_()) {
        for (const Fault& fault : plan.faults) if (fault.site == 0 && fault.what == "gap") gap_ = fault.beat, gap_cycles_ = fault.a;
    }
    void before_edge() {
        if (!to_.moves()) return;
        bytes += count(beats_[at_].on);
        if (++at_ < beats_.size()) return;
        beats_.clear(), at_ = 0, ++sent;
        idle_ = plan_["pause"] ? gaps_() % (2 * plan_["pause"]) : 0;
    }
    void after_edge(bool runs) {
        *to_.valid = 0;
        if (beats_.empty()) {
            if (!runs || idle_ > 0) {
                --idle_;
                return;
            }
            make(sent);
        }
        if (sent == plan_["hit"] && long(at_) == gap_ && gap_cycles_-- > 0) return;
        to_.show(beats_[at_]);
    }
    long long sent = 0;
    unsigned long long bytes = 0;

private:
    static int count(std::uint64_t bits) { return __builtin_popcountll(bits); }
    void make(long long number) {
        const bool hit = number == plan_["hit"];
        long long length = plan_["shortest"] + draw_() % (plan_["longest"] - plan_["shortest"] + 1);
        if (plan_["every_length"] && number % plan_["every_length"] == 0) length = kFirstB + number / plan_["every_length"] * 4967 % kLengths;
        if (hit && plan_["hit_B"]) length = plan_["hit_B"];
        Bytes frame(length - 4);
        for (std::size_t n = 0; n < frame.size(); n += 4) {
            const std::uint32_t word = draw_();
            std::memcpy(&frame[n], &word, std::min<std::size_t>(4, frame.size() - n));
        }
        static const std::uint8_t begin[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};  // a local type
        std::memcpy(frame.data(), begin, std::min(sizeof begin, frame.size()));
        const bool near = number == plan_["hit"] || number == plan_["hit"] + 1;
        if (plan_["alike"] && number % plan_["alike"] == 0 && !near) {
            if (same_.empty()) same_ = frame;
            frame = same_;
        }
        if (WITH_FCS) {
            const std::uint32_t crc = crc32(frame.data(), frame.size());
            for (int n = 0; n < 4; ++n) frame.push_back(crc >> 8 * n);
        }
        for (long long n = 0; hit && n < plan_["bad"]; ++n) {
            const std::uint32_t place = draw_() % (8 * frame.size() / plan_["bad"]) + n * (8 * frame.size() / plan_["bad"]);
            frame[place / 8] ^= 1u << place % 8;
        }
        for (std::size_t at = 0; at < frame.size(); at += to_.bytes) {
            Beat beat;
            const std::size_t size = std::min<std::size_t>(to_.bytes, frame.size() - at);
            std::memcpy(beat.data, &frame[at], size);
            beat.on = size == 64 ? ~0ull : (1ull << size) - 1;
            beat.last = at + size == frame.size();
            beat.bad = beat.last && hit && plan_["bad"];
            beats_.push_back(beat);
        }
    }
    const Plan& plan_;
    Stream to_;
    std::mt19937 draw_, gaps_;
    std::vector<Beat> beats_;
    Bytes same_;
    std::size_t at_ = 0;
    long long idle_ = 0, gap_ = -1, gap_cycles_ = 0;
};

class Bench {
public:
    explicit Bench(const Plan& plan)
        : plan_(plan), generator_(plan, STREAM(top_, gen_in, CORE_B)), draw_(plan["seed"] + 1),
          sites_{{1, STREAM(top_, s1_out, LINE_B), STREAM(top_, s1_in, LINE_B), LINE_WAITS, plan.faults},
                 {2, STREAM(top_, s2_out, LINE_B), STREAM(top_, s2_in, LINE_B), true, plan.faults},
                 {3, STREAM(top_, s3_out, CORE_B), STREAM(top_, s3_in, CORE_B), true, plan.faults}},
          received_(STREAM(top_, rx, CORE_B)), first_(LINE_WAITS ? sites_[0].to() : STREAM(top_, gen_in, CORE_B)) {
        top_.sys_rst = top_.line_rst = 1;
        for (int i = 0; i < 100; ++i) step();
        top_.sys_rst = top_.line_rst = 0;
    }
    Vtop& top() { return top_; }
    void clock() {  // to just after the next rising edge of the register bus
        const auto before = sys_cycles_;
        while (sys_cycles_ == before) step();
    }
    void step() {  // to the next edge of either clock
        const bool sys = sys_at_ <= line_at_;
        std::uint8_t& clk = sys ? top_.sys_clk : top_.line_clk;
        (sys ? sys_at_ : line_at_) += sys ? SYS_PS / 2 : LINE_PS / 2;
        if (clk) {
            clk = 0, top_.eval();
            return;
        }
        if (sys) before_sys(); else before_line();
        clk = 1, top_.eval();
        if (sys) after_sys(); else after_line();  // settled at the falling edge
    }
    // Traffic until the recorder is frozen, or as long after the frame that is hit as planned: what came later, until a host
    // has frozen it, would take the place of that frame in the memories.
    void run() {
        runs_ = true;
        long long since = -1, done = -1;
        while (!top_.frozen) {
            clock();
            const long long hit = dropped_.empty() || plan_["hit"] >= 0 ? plan_["hit"] : dropped_.begin()->first;
            if (hit >= 0 && since < 0 && first_seen_.count() >= hit) since = sys_cycles_;
            if (since >= 0 && done < 0 && generator_.sent > hit + plan_["after"]) done = sys_cycles_;
            if (done >= 0 && sys_cycles_ >= done + plan_["drain"]) break;
            if (since >= 0 && sys_cycles_ >= since + plan_["wait"]) break;
            if (plan_["block"] >= 0 && sys_cycles_ > kLongest) std::fprintf(stderr, "no frame was dropped\n"), std::exit(1);
        }
        runs_ = false;
    }
    void tell() const {
        std::printf("{\"frozen\": %d, \"sent\": %lld, \"bytes\": %llu, \"received\": %lld, \"sys_cycles\": %lld, \"line_cycles\": %lld, \"struck\": [",
                    top_.frozen, generator_.sent, generator_.bytes, received_count_, sys_cycles_, line_cycles_);
        print(struck_);
        std::printf("], \"dropped\": [");
        print(dropped_);
        std::printf("]}\n");
        std::fflush(stdout);
    }

private:
    using Frames = std::map<long long, Bytes>;
    static void print(const Frames& frames) {
        const char* between = "";
        for (const auto& [number, bytes] : frames) {
            std::printf("%s\"", between), between = ", ";
            for (std::uint8_t byte : bytes) std::printf("%02x", byte);
            std::printf("\"");
        }
    }
    void before_sys() {
        ++sys_cycles_;
        if (GEN_IN_SYS) generator_.before_edge();
        if (received_.moves()) received_count_ += *received_.last;
        sites_[2].before_edge();
    }
    void after_sys() {
        if (GEN_IN_SYS) generator_.after_edge(runs_);
        sites_[2].after_edge();
        if (waits_ > 0) --waits_;
        else if (long(draw_() % 1000) < plan_["lazy"]) waits_ = 1 + draw_() % plan_["lazy_cycles"];
        const bool stuck = plan_["stuck"] >= 0 && received_count_ >= plan_["stuck"];
        const bool blocked = plan_["block"] >= 0 && received_count_ >= plan_["block"] && dropped_.empty();
        *received_.ready = waits_ == 0 && !stuck && !blocked;
    }
    void before_line() {
        ++line_cycles_;
        if (top_.drop && dropped_.size() < 8) dropped_[first_seen_.count() - 1] = first_seen_.packet(first_seen_.count() - 1);
        if (first_.moves()) {
            first_seen_.add(first_.load(), first_.bytes);
            const long long newest = first_seen_.count() - 1, hit = plan_["hit"];
            if (hit >= 0 && (newest == hit || newest == hit + 1) && !struck_.count(newest)) struck_[newest] = first_seen_.packet(newest);
        }
        if (!GEN_IN_SYS) generator_.before_edge();
        sites_[0].before_edge(), sites_[1].before_edge();
    }
    void after_line() {
        if (!GEN_IN_SYS) generator_.after_edge(runs_);
        sites_[0].after_edge(), sites_[1].after_edge();
    }

    const Plan& plan_;
    Vtop top_;
    Generator generator_;
    std::mt19937 draw_;
    Site sites_[3];
    Stream received_, first_;
    Log first_seen_;
    Frames struck_, dropped_;
    long long received_count_ = 0, waits_ = 0, sys_cycles_ = 0, line_cycles_ = 0, sys_at_ = 0, line_at_ = 700;
    bool runs_ = false;
};

// The register bus; told when the host stops the recording.
class Watched : public freezeframe::Bus {
public:
    explicit Watched(freezeframe::Bus& bus) : bus_(bus) {}
    std::uint32_t read(std::uint32_t address) override { return bus_.read(address); }
    void write(std::uint32_t address, std::uint32_t word) override {
        stopped = stopped || address == kFreeze;
        bus_.write(address, word);
    }
    bool stopped = false;

private:
    freezeframe::Bus& bus_;
};

}  // namespace

int main(int argc, char** argv) {
    Plan plan;
    for (int n = 1; n < argc; ++n) plan.take(argv[n]);
    Bench bench(plan);
    freezeframe::Wishbone pins(FREEZEFRAME_WISHBONE(bench.top(), bus), {[&] { bench.top().eval(); }, [&] { bench.clock(); }});
    Watched bus(pins);
    freezeframe::EtherboneServer server("127.0.0.1", 0);
    for (int i = 0; i < 20000; ++i) bench.clock();  // until the clocks are seen to run
    std::printf("etherbone://127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    for (pollfd parent{0, POLLIN, 0};;) {
        if (poll(&parent, 1, 0) > 0) {
            char line[16];
            if (read(0, line, sizeof line) <= 0) return 0;
            bench.run();
            bench.tell();
        }
        if (bench.top().frozen || bus.stopped)
            for (int i = 0; i < 200; ++i) bench.clock();
        else
            server.wait(1);
        server.poll(bus, 64);
    }
}
