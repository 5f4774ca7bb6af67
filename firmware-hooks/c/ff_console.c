/* SPDX-License-Identifier: Apache-2.0 */
#include "ff_console.h"

#include <stddef.h>

#include "ff_formats.h"
#include "freezeframe.h"

enum { EVENT_LOG = 4, KIND_BITS = 4, DT_BITS = 4, DATA_BITS = 64, STRIDE_LOG2 = 24 };
#define MAGIC UINT32_C(0x46525A46)
#define MODE_QUAD 1u

typedef struct {
    const ff_console *console;
    uint16_t crc;
} line;

static void put_text(line *out, const char *text)
{
    for (; *text; text++) {
        unsigned bit;
        out->crc ^= (uint16_t)((unsigned)(unsigned char)*text << 8);
        for (bit = 0; bit < 8; bit++)
            out->crc = (uint16_t)(out->crc & 0x8000u ? (unsigned)out->crc << 1 ^ 0x1021u : (unsigned)out->crc << 1);
        out->console->put(out->console->context, *text);
    }
}

static void put_digits(line *out, uint64_t value, unsigned digits)
{
    char text[2] = {0, 0};
    while (digits--) {
        text[0] = "0123456789abcdef"[value >> 4 * digits & 15];
        put_text(out, text);
    }
}

/* A space and the value with as many digits as it needs. */
static void put_number(line *out, uint64_t value)
{
    unsigned digits = 1;
    while (digits < 16 && value >> 4 * digits)
        digits++;
    put_text(out, " ");
    put_digits(out, value, digits);
}

static line begin_line(const ff_console *console, const char *what)
{
    line out = {console, 0xFFFF};
    put_text(&out, "ff:");
    out.crc = 0xFFFF; /* the mark before the text does not count */
    put_text(&out, what);
    return out;
}

static void end_line(line *out)
{
    uint16_t crc = out->crc;
    put_text(out, " *");
    put_digits(out, crc, 4);
    put_text(out, "\r\n");
}

static void put_register(const ff_console *console, size_t address, uint64_t value)
{
    line out = begin_line(console, "reg");
    put_number(&out, address);
    put_number(&out, value);
    end_line(&out);
}

#define REG(member, value) put_register(console, offsetof(freezeframe_t, member), (uint32_t)(value))

static void put_identity(const ff_console *console, const ff_ring *ring, const ff_identity *identity)
{
    REG(id.magic, MAGIC);
    REG(id.format, (uint32_t)FF_FORMAT_MAJOR << 16 | FF_FORMAT_MINOR);
    REG(id.map_hash, FF_MAP_HASH);
    REG(id.build_hash, identity->build_hash);
    REG(id.boot_nonce, identity->boot_nonce);
    REG(id.devices, 1u << FREEZEFRAME__ID__DEVICES__COUNT_bp | (uint32_t)STRIDE_LOG2 << FREEZEFRAME__ID__DEVICES__STRIDE_LOG2_bp
                        | 1u << FREEZEFRAME__ID__DEVICES__TIME_MASTER_bp);
    REG(id.trace, MODE_QUAD << FREEZEFRAME__ID__TRACE__MODE_bp | (uint32_t)DATA_BITS << FREEZEFRAME__ID__TRACE__DATA_W_bp
                      | (uint32_t)KIND_BITS << FREEZEFRAME__ID__TRACE__KIND_W_bp | (uint32_t)DT_BITS << FREEZEFRAME__ID__TRACE__DT_W_bp);
    REG(id.tap_depth, 0); /* a processor has no word taps of its own */
    REG(id.event_depth, ring->depth);
    REG(id.chunk, ring->depth);
    REG(id.max_burst, 1);
    REG(id.clk_bus, identity->clk_hz);
    REG(id.clk_link, identity->clk_hz);
    REG(id.sampler_depth, 0);
    REG(id.counters, 32u << FREEZEFRAME__ID__COUNTERS__WIDTH_bp);
    REG(id.flows, identity->flows_count << FREEZEFRAME__ID__FLOWS__COUNT_bp | 1u << FREEZEFRAME__ID__FLOWS__CREDIT_W_bp);
    REG(id.tx_fifo, 0);
    REG(id.rx_fifo, 0);
    REG(id.credit_unit, 0);
    REG(id.cross_latency, 0);
    REG(id.sync_period, 1);
    REG(id.event_fifo, 0);
    REG(id.post_drain, UINT32_C(1) << ring->drain_log2);
}

static void put_state(const ff_console *console, const ff_ring *ring)
{
    REG(ctl.generation, ring->generation);
    REG(ctl.state, (uint32_t)ring->state << FREEZEFRAME__CTL__STATE__STATE_bp
                       | 1u << (FREEZEFRAME__CTL__STATE__CLOSED_bp + EVENT_LOG));
    REG(ctl.causes, ring->causes);
    REG(ctl.cause_cycle_lo, ring->cause_cycle);
    REG(ctl.cause_cycle_hi, ring->cause_cycle >> 32);
    REG(ctl.kinds[EVENT_LOG], ring->kinds);
    REG(ctl.post[EVENT_LOG], ring->post);
    REG(memory[EVENT_LOG].write_ptr, ring->write_ptr);
    REG(memory[EVENT_LOG].status, ring->wrapped);
    REG(memory[EVENT_LOG].stored, ring->stored);
    REG(memory[EVENT_LOG].offered, ring->offered);
    REG(memory[EVENT_LOG].lost, 0);
}

/* What a card with a file is (docs/card-map.md section 1): it has an event log alone, and one CRC over it, that of "end". */
static void put_card(const ff_console *console, const ff_ring *ring, const ff_identity *identity)
{
    enum { FEATURES = 1 << 1 | 1 << 6, ONE_OF_EACH = 1 | 1 << 8 | 1 << 16 };
    const struct {
        uint32_t address, value;
    } registers[] = {
        {0x000, MAGIC},
        {0x004, UINT32_C(2) << 16},
        {0x008, (uint32_t)identity->card_hash},
        {0x00C, (uint32_t)(identity->card_hash >> 32)},
        {0x010, identity->boot_nonce},
        {0x014, UINT32_C(1) | (uint32_t)STRIDE_LOG2 << 16 | UINT32_C(1) << 24},
        {0x018, FEATURES},
        {0x01C, ring->generation},
        {0x020, identity->build_hash},
        {0x024, 0}, /* no ROM */
        {0x028, ONE_OF_EACH},
        {0x02C, ring->depth},
        {0x030, 1},
        {0x034, 1},
        {0x038, UINT32_C(1) << ring->drain_log2},
        {0x03C, 0},
        {0x048, identity->causes << 16},
        {0x080, identity->clk_hz},
        {0x100, ring->state},
        {0x10C, ring->causes},
        {0x110, (uint32_t)ring->cause_cycle},
        {0x114, (uint32_t)(ring->cause_cycle >> 32)},
        {0x128, 1},
        {0x12C, 1},
        {0x800, ring->write_ptr},
        {0x804, (uint32_t)ring->wrapped | 1u << 1},
        {0x808, ring->stored},
        {0x80C, ring->offered},
        {0x810, ring->post},
        {0x814, ring->kinds},
    };
    size_t i;
    for (i = 0; i < sizeof registers / sizeof registers[0]; i++)
        put_register(console, registers[i].address, registers[i].value);
}

static uint32_t crc32_byte(uint32_t crc, uint8_t byte)
{
    unsigned bit;
    crc ^= byte;
    for (bit = 0; bit < 8; bit++)
        crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xEDB88320) : crc >> 1;
    return crc;
}

static uint32_t put_record(const ff_console *console, const ff_ring *ring, uint32_t slot, uint32_t crc)
{
    const uint8_t *record = ring->records + (uintptr_t)slot * FF_RING_RECORD_B;
    line out = begin_line(console, "rec");
    unsigned i;
    put_number(&out, slot);
    put_text(&out, " ");
    for (i = 0; i < FF_RING_RECORD_B; i++) {
        put_digits(&out, record[i], 2);
        crc = crc32_byte(crc, record[i]);
    }
    end_line(&out);
    return crc;
}

bool ff_console_dump(const ff_console *console, const ff_ring *ring, const ff_identity *identity)
{
    uint32_t records = ring->wrapped ? ring->depth : ring->write_ptr;
    uint32_t crc = UINT32_C(0xFFFFFFFF), slot;
    line out;
    if (!ff_ring_frozen(ring))
        return false;
    out = begin_line(console, "begin");
    put_number(&out, ring->generation);
    end_line(&out);
    if (identity->card_hash) {
        put_card(console, ring, identity);
    } else {
        put_identity(console, ring, identity);
        put_state(console, ring);
    }
    for (slot = 0; slot < records; slot++)
        crc = put_record(console, ring, slot, crc);
    out = begin_line(console, "end");
    put_number(&out, records);
    put_number(&out, crc ^ UINT32_C(0xFFFFFFFF));
    end_line(&out);
    return true;
}

void ff_console_switch(const ff_console *console, const ff_switch *sw, uint64_t cycle)
{
    unsigned flow, in, out_port;
    line out;
    for (flow = 0; flow < FF_SWITCH_FLOWS; flow++) {
        if (!sw->words[flow])
            continue;
        out = begin_line(console, "flow");
        put_number(&out, cycle);
        put_number(&out, flow);
        put_number(&out, sw->words[flow]);
        end_line(&out);
    }
    for (in = 0; in < FF_SWITCH_PORTS; in++) {
        for (out_port = 0; out_port < FF_SWITCH_PORTS; out_port++) {
            if (!sw->most_occupied[in][out_port])
                continue;
            out = begin_line(console, "xpt");
            put_number(&out, cycle);
            put_number(&out, in);
            put_number(&out, out_port);
            put_number(&out, sw->occupancy[in][out_port]);
            put_number(&out, sw->most_occupied[in][out_port]);
            end_line(&out);
        }
    }
    for (in = 0; in < FF_SWITCH_PORTS; in++) {
        const ff_switch_port *port = &sw->ports[in];
        if (!port->words_in && !port->words_out)
            continue;
        out = begin_line(console, "port");
        put_number(&out, cycle);
        put_number(&out, in);
        put_number(&out, port->words_in);
        put_number(&out, port->packets_in);
        put_number(&out, port->bad_in);
        put_number(&out, port->told);
        put_number(&out, port->words_out);
        put_number(&out, port->packets_out);
        put_number(&out, port->bad_out);
        end_line(&out);
    }
    out = begin_line(console, "fwd");
    put_number(&out, cycle);
    put_number(&out, sw->packets);
    put_number(&out, sw->cycles);
    put_number(&out, sw->least_cycles);
    put_number(&out, sw->most_cycles);
    put_number(&out, sw->refused);
    end_line(&out);
}
