/* SPDX-License-Identifier: Apache-2.0 */
#include "ff_switch.h"

void ff_switch_clear(ff_switch *sw)
{
    *sw = (ff_switch){0};
}

void ff_switch_forwarded(ff_switch *sw, unsigned flow, uint32_t words, uint32_t cycles)
{
    if (flow >= FF_SWITCH_FLOWS) {
        sw->refused++;
        return;
    }
    sw->words[flow] += words;
    sw->cycles += cycles;
    if (sw->packets == 0 || cycles < sw->least_cycles)
        sw->least_cycles = cycles;
    if (cycles > sw->most_cycles)
        sw->most_cycles = cycles;
    sw->packets++;
}

void ff_switch_occupied(ff_switch *sw, unsigned input, unsigned output, uint32_t words)
{
    if (input >= FF_SWITCH_PORTS || output >= FF_SWITCH_PORTS) {
        sw->refused++;
        return;
    }
    sw->occupancy[input][output] = words;
    if (words > sw->most_occupied[input][output])
        sw->most_occupied[input][output] = words;
}

void ff_switch_counted(ff_switch *sw, unsigned port, const ff_switch_port *counts)
{
    ff_switch_port *kept;
    if (port >= FF_SWITCH_PORTS) {
        sw->refused++;
        return;
    }
    kept = &sw->ports[port]; /* one by one: a whole structure would be a call of memcpy */
    kept->words_in = counts->words_in;
    kept->words_out = counts->words_out;
    kept->told = counts->told;
    kept->packets_in = counts->packets_in;
    kept->packets_out = counts->packets_out;
    kept->bad_in = counts->bad_in;
    kept->bad_out = counts->bad_out;
}
