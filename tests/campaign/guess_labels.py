"""What is in the public captures of sigrok's collection, by their paths: which decoders are right.

The folder says the protocol; the rest is from the README files of that collection. Decoders are named as those
of sigrok are, without ``srd-``; one of ours of the same protocol is right too. An empty tuple: there is no
decoder for it, neither ours nor one of libsigrokdecode 0.5.3, or there is nothing to decode.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

# The first that fits counts.
_LABELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ac97/*", ("ac97",)),
    ("am230x/*", ("am230x",)),
    ("aud/*", ("aud",)),
    ("avr_isp/*", ("spi",)),
    ("avr_pdi/*", ("avr_pdi",)),
    ("can/*", ("can",)),
    ("dac/ti_tlc5620/*", ("tlc5620", "spi")),  # clock, data and a strobe after 11 bits
    ("display/seven_segment/*", ("seven_segment",)),
    ("display/st7735/*", ("spi", "st7735")),
    ("dmx512/*", ("dmx512", "uart")),  # characters of a UART after a break
    ("flexray/*", ("flexray",)),
    ("gpib/*", ("gpib", "ieee488")),
    ("graycode/*", ("graycode",)),
    ("i2c/*", ("i2c",)),
    ("i2s/*", ("i2s", "tdm_audio")),  # I2S is TDM with two slots
    ("ir/nec/*", ("ir_nec",)),
    ("ir/rc-5/*", ("ir_rc5",)),
    ("jtag/cjtag/*", ()),
    ("jtag/*", ("jtag",)),
    ("led/5050rgbset_led_strip/led_strip_mode_flash.sr", ()),  # the bus is silent
    ("led/5050rgbset_led_strip/led_strip_red_brightness_min.sr", ()),
    ("led/5050rgbset_led_strip/*", ("i2c", "ir_nec", "pwm")),
    ("led/ws281x*", ("rgb_led_ws281x",)),
    ("lpc/*", ("lpc",)),
    ("mdio/*", ("mdio",)),
    ("misc/no-samplerate.sr", ("i2c",)),
    ("misc/tektronix_isf/*", ("i2c",)),
    ("mouse_sensors/agilent*", ("ps2", "graycode")),
    ("mouse_sensors/avago*", ("spi", "graycode")),  # clock and one data line, no select
    ("nfc/*", ("spi",)),
    ("nonstandard_eeproms/siemens_sda2506/*", ("sda2506",)),
    ("onewire/*", ("onewire", "onewire_link")),
    ("ook/oregon/*", ("ook",)),
    ("ps2/*", ("ps2",)),
    ("qi/*", ("qi",)),
    ("rc/*", ("rc_encode",)),
    ("rfid/em410*", ("em4100", "uart")),  # the reader's answer beside its coil
    ("rfid/t55xx/em4305*", ("em4305",)),
    ("sdcard/sd_mode/*", ("sdcard_sd",)),
    ("sdcard/spi_mode/*", ("spi",)),
    ("signature/*", ("signature",)),
    ("spdif/pcm2707/*", ("spdif", "usb", "usb_signalling")),
    ("spdif/*", ("spdif",)),
    ("spi/*", ("spi",)),
    ("stepper_motor/*", ("stepper_motor", "uart")),
    ("swd/*", ("swd",)),
    ("uart/uni-t_ut-d04_cable/*", ("uart", "usb", "usb_signalling")),
    ("uart/voltcraft_vc940/*", ("uart", "i2c", "spi")),
    ("uart/*", ("uart",)),
    ("usb/cdc/silabs_cp2102/*", ("usb", "usb_signalling", "uart")),
    ("usb/hid/mouse/lisa*", ("usb", "usb_signalling", "spi")),
    (
        "usb/*",
        (
            "usb",
            "usb_signalling",
        ),
    ),
    ("usb_power_delivery/*", ("usb_power_delivery",)),
)

# Of lines of a UART: rate, bits and parity by the name of the file, by MIDI 1.0, by ANSI E1.11 (DMX512-A), or by what
# libsigrok sets for the instrument.
_FRAMES: tuple[tuple[str, str], ...] = (
    ("dmx512/*", "baud=250000"),
    ("uart/counter/*_5n1.sr", "baud=19200,bits=5"),
    ("uart/counter/*_6n1.sr", "baud=19200,bits=6"),
    ("uart/errors/*_4800_8n1_*", "baud=4800"),
    ("uart/hello_world/7e1/*_115200.sr", "baud=115200,bits=7,parity=even"),
    ("uart/hello_world/7o1/*_115200.sr", "baud=115200,bits=7,parity=odd"),
    *(
        (f"uart/hello_world/8n1/*_{rate}.sr", f"baud={rate}")
        for rate in (2400, 4800, 38400, 230400, 921600)
    ),
    ("uart/kern_ew_6200-2nm/*_9600_8o2.sr", "baud=9600,parity=odd"),
    ("uart/midi/*", "baud=31250"),
    ("uart/tondaj_sl-814/*", "baud=9600,parity=even"),
    ("uart/uni-t_ut-d04_cable/*", "baud=2400"),
    ("uart/uni-t_ut61e/*", "baud=19200,bits=7,parity=odd"),
    ("uart/unitsize/*_115200_*", "baud=115200"),
)


def right_decoders(path: str) -> tuple[str, ...]:
    """Return the decoders that are right for a capture, by its path in the collection."""
    return next((right for pattern, right in _LABELS if fnmatchcase(path, pattern)), ())


def right_frame(path: str) -> str:
    """Return rate, bits and parity of a capture of a UART as options of the decoder, empty where they are not known."""
    return next((frame for pattern, frame in _FRAMES if fnmatchcase(path, pattern)), "")
