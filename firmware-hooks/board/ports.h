// SPDX-License-Identifier: Apache-2.0
// One card's ports and the host behind them, a call before and one after each rising edge of its bus clock.
#pragma once

#ifdef FREEZEFRAME_PCIX
#include "pcix_ports.h"
#else
#include "direct_ports.h"
#endif

namespace freezeframe {

#ifdef FREEZEFRAME_PCIX
using Ports = PcixPorts;
#else
using Ports = DirectPorts;
#endif

}  // namespace freezeframe
