"""What packets, requests and descriptors of USB are called.

Source: USB 2.0, table 8-1 (PIDs), tables 9-3 to 9-6 (requests, descriptor types); HID 1.11, 7.1 and 7.2; the class
codes of usb.org.
"""

PIDS = (
    *("reserved", "OUT", "ACK", "DATA0", "PING", "SOF", "NYET", "DATA2"),
    *("SPLIT", "IN", "NAK", "DATA1", "PRE", "SETUP", "STALL", "MDATA"),
)
STANDARD_REQUESTS = {
    0: "GET_STATUS",
    1: "CLEAR_FEATURE",
    3: "SET_FEATURE",
    5: "SET_ADDRESS",
    6: "GET_DESCRIPTOR",
    7: "SET_DESCRIPTOR",
    8: "GET_CONFIGURATION",
    9: "SET_CONFIGURATION",
    10: "GET_INTERFACE",
    11: "SET_INTERFACE",
    12: "SYNCH_FRAME",
}
DESCRIPTORS = {
    1: "device",
    2: "configuration",
    3: "string",
    4: "interface",
    5: "endpoint",
    6: "device qualifier",
    7: "other speed configuration",
    8: "interface power",
    9: "OTG",
    10: "debug",
    11: "interface association",
    15: "BOS",
    16: "device capability",
    0x21: "HID",
    0x22: "report",
    0x23: "physical",
    0x24: "class interface",
    0x25: "class endpoint",
    0x29: "hub",
}
CLASSES = {
    0: "by interface",
    1: "audio",
    2: "communications",
    3: "HID",
    5: "physical",
    6: "image",
    7: "printer",
    8: "mass storage",
    9: "hub",
    10: "CDC data",
    11: "smart card",
    14: "video",
    0xDC: "diagnostic",
    0xE0: "wireless",
    0xEF: "miscellaneous",
    0xFE: "application",
    0xFF: "vendor",
}
ENDPOINT_KINDS = ("control", "isochronous", "bulk", "interrupt")
HID_REQUESTS = {
    1: "GET_REPORT",
    2: "GET_IDLE",
    3: "GET_PROTOCOL",
    9: "SET_REPORT",
    10: "SET_IDLE",
    11: "SET_PROTOCOL",
}
