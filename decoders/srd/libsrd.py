"""libsigrokdecode through ctypes, without its own initialisation; for worker processes only.

``srd_init`` starts a Python interpreter and there is one already, so the library is put to work
without it: its module is made and registered here, and the decoders' folders go on ``sys.path``.
The worker loads this file by its path, so it imports nothing but the standard library.

Source: libsigrokdecode.h of 0.5.3, and trying (``srd_exit``, or a session without an instance,
crash).
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from itertools import islice
from typing import Any

_CONF_SAMPLERATE = 10000
_LOG_ERRORS = 1
_REFERENCES = 1 << 40


class Rows:
    """Annotations as they come, and as columns; ``text`` counts the lists of wordings."""

    def __init__(self, classes: int) -> None:
        """Take annotations of this many classes."""
        self.fresh: list[tuple[int, int, int, tuple[str, ...]]] = []
        self._classes = classes
        self._known: dict[tuple[str, ...], int] = {}

    def take(self, most_texts: int) -> tuple[list[array[int]], list[tuple[str, ...]], bool]:
        """Return start, end, class and text of what came, and the texts that are new, in order.

        The last says whether the texts begin again at 0 after this, as there were too many.

        Raises:
            RuntimeError: the decoder gave something else than an annotation.
        """
        known = self._known
        before = len(known)
        try:
            columns = [
                array("q", [row[0] for row in self.fresh]),
                array("q", [row[1] for row in self.fresh]),
                array("i", [row[2] for row in self.fresh]),
                array("i", [known.setdefault(row[3], len(known)) for row in self.fresh]),
            ]
        except (TypeError, OverflowError) as error:
            raise RuntimeError(f"annotation with a wrong sample or class: {error}") from error
        for ann_class in set(columns[2]):
            if not 0 <= ann_class < self._classes:
                raise RuntimeError(
                    f"annotation of class {ann_class}; the decoder declares {self._classes}"
                )
        new = list(islice(known, before, None))
        for texts in new:
            if not texts or not all(isinstance(text, str) for text in texts):
                raise RuntimeError(f"annotation without a text: {texts!r}")
        self.fresh.clear()
        restart = len(known) > most_texts
        if restart:
            self._known = {}
        return columns, new, restart


class _Kept(int):
    """The id of an output whose annotations are wanted."""


class _Dropped(int):
    """The id of an output that nobody takes."""


class Library:
    """The library, ready to load decoders."""

    def __init__(self, path: str, folders: Sequence[str]) -> None:
        """Load it; ``folders`` have decoders, the first found wins.

        Raises:
            OSError: it cannot be loaded.
            AttributeError: it lacks a function: another library, or another version.
        """
        if sys.version_info < (3, 12):
            # 0.5.3 gives back one reference too many of True or False in has_channel(); from 3.12
            # on they are immortal, and their counts are no plain integers.
            for constant in (True, False):
                ctypes.c_ssize_t.from_address(id(constant)).value += _REFERENCES
        with_gil = ctypes.PyDLL(path)
        self.lib = ctypes.CDLL(path)
        _declare(self.lib, _SRD)
        # Symbols of what the library depends on are found through the library.
        self.glib = ctypes.CDLL(path)
        _declare(self.glib, _GLIB)
        with_gil.PyInit_sigrokdecode.restype = ctypes.py_object
        sys.modules["sigrokdecode"] = with_gil.PyInit_sigrokdecode()
        sys.path[:0] = folders
        self.lib.srd_log_loglevel_set(_LOG_ERRORS)
        self.session = c_void_p()
        # Before any decoder is loaded: this is what the library takes for its initialisation.
        _check(self.lib.srd_session_new(byref(self.session)), "srd_session_new")

    @property
    def version(self) -> str:
        return str(self.lib.srd_package_version_string_get().decode())

    def load(self, name: str) -> Any:
        """Return the class of a decoder.

        Raises:
            RuntimeError: there is none of this name, or it does not load.
        """
        try:
            self.lib.srd_decoder_load(name.encode())
        except SystemError as error:  # an exception of the decoder's module came through
            cause = error.__cause__ or error
            raise RuntimeError(f"{type(cause).__name__}: {cause}") from cause
        if not self.lib.srd_decoder_get_by_id(name.encode()):
            raise RuntimeError(f"the library does not load a decoder {name!r}")
        return sys.modules[name].Decoder

    def variants(self, values: Mapping[str, Any]) -> c_void_p:
        """Return a GHashTable of GVariants: bool-free Python values, or ctypes ints for int32."""
        made = self.glib.g_hash_table_new(
            ctypes.cast(self.glib.g_str_hash, c_void_p),
            ctypes.cast(self.glib.g_str_equal, c_void_p),
        )
        for key, value in values.items():
            # Strings are never freed: the table lives as long as the process.
            self.glib.g_hash_table_insert(
                made, self.glib.g_strdup(key.encode()), self._variant(value)
            )
        return c_void_p(made)

    def _variant(self, value: Any) -> c_void_p:
        glib = self.glib
        if isinstance(value, c_int):
            made = glib.g_variant_new_int32(value)
        elif isinstance(value, int):
            made = glib.g_variant_new_int64(value)
        elif isinstance(value, float):
            made = glib.g_variant_new_double(value)
        else:
            made = glib.g_variant_new_string(str(value).encode())
        return c_void_p(glib.g_variant_ref_sink(c_void_p(made)))


class Session:
    """A stack of decoders that is fed with samples; the annotations of the one on top go to
    ``rows``."""

    def __init__(
        self,
        library: Library,
        stack: Sequence[Mapping[str, Any]],
        samplerate_hz: int,
        unitsize_B: int,
    ) -> None:
        """Build the stack from the bottom: ``id``, ``options`` (all), ``channels`` (id -> bit).

        Raises:
            RuntimeError: a decoder does not load or refuses its options or channels.
        """
        tops = [library.load(str(step["id"])) for step in stack[-1:]]
        self.rows = Rows(sum(len(getattr(top, "annotations", ())) for top in tops))
        self.failures: list[str] = []
        self.ended = False
        self._lib = library.lib
        self._session = library.session
        self._unitsize_B = unitsize_B
        self._made: list[Any] = []
        self._take_outputs(sys.modules["sigrokdecode"])
        below: c_void_p | None = None
        for level, step in enumerate(stack):
            name = str(step["id"])
            self._watch(library.load(name), name, stacked=level > 0)
            made = self._lib.srd_inst_new(
                self._session, name.encode(), library.variants(step["options"])
            )
            if not made or len(self._made) != level + 1:
                raise RuntimeError(f"decoder {name} does not start with these options")
            instance = c_void_p(made)
            if below is None:
                bits = {key: c_int(bit) for key, bit in step["channels"].items()}
                _check(
                    self._lib.srd_inst_channel_set_all(instance, library.variants(bits)),
                    f"setting the channels of {name}",
                )
            else:
                _check(
                    self._lib.srd_inst_stack(self._session, below, instance),
                    f"stacking {name}",
                )
            below = instance
        if below is None:  # srd_session_start without an instance crashes
            raise ValueError("a stack of no decoder")
        if samplerate_hz:  # decoders that need one say so themselves
            rate = c_void_p(library.glib.g_variant_new_uint64(c_uint64(samplerate_hz)))
            _check(
                self._lib.srd_session_metadata_set(self._session, _CONF_SAMPLERATE, rate),
                "setting the sample rate",
            )
        _check(self._lib.srd_session_start(self._session), "starting the decoders")

    def send(self, begin_sample: int, end_sample: int, address: int) -> int:
        """Decode the samples at this address; return the library's verdict, 0 for good."""
        size_B = (end_sample - begin_sample) * self._unitsize_B
        return int(
            self._lib.srd_session_send(
                self._session, begin_sample, end_sample, address, size_B, self._unitsize_B
            )
        )

    def give(self, rows: Sequence[Sequence[int]]) -> None:
        """Let the lowest decoder, which is one of ours (feeds/), hand on what rows say.

        Its ``put`` calls the decoders on top at once, so what they raise is in ``failures`` then.
        """
        feeder = self._made[0]
        for row in rows:
            feeder.give(row)
            if self.failures:
                return

    def _take_outputs(self, module: Any) -> None:
        """Take annotations where the decoder gives them.

        The library would make C strings of them and call back for each: 1.6 us more a row than
        this, a third of all that an MDIO decoder needs.
        """
        plain_register = module.Decoder.register
        plain_put = module.Decoder.put
        append = self.rows.fresh.append

        def register(instance: Any, output_type: int, *arguments: Any, **named: Any) -> int:
            output = int(plain_register(instance, output_type, *arguments, **named))
            on_top = instance is self._made[-1]
            if output_type == module.OUTPUT_ANN and on_top:
                return _Kept(output)
            if output_type == module.OUTPUT_PYTHON and not on_top:
                return output
            return _Dropped(output)

        def put(instance: Any, start: int, end: int, output: int, data: Any) -> None:
            kind = type(output)
            if kind is _Kept:
                ann_class, texts = data
                append((start, end, ann_class, tuple(texts)))
            elif kind is not _Dropped:
                try:
                    plain_put(instance, start, end, output, data)
                except SystemError:  # the library fails without saying why
                    raise ValueError(f"output {output} is not registered") from None

        module.Decoder.register = register
        module.Decoder.put = put

    def _watch(self, decoder: Any, name: str, *, stacked: bool) -> None:
        """Know the instances, and keep what the decoder raises.

        The library prints it, and goes on or stops in silence.
        """
        if getattr(decoder.decode, "watched", False):  # the same decoder twice in a stack
            return
        plain_init = decoder.__init__
        plain = decoder.decode

        def init(instance: Any, *arguments: Any) -> None:
            self._made.append(instance)
            plain_init(instance, *arguments)

        def decode(instance: Any, *arguments: Any) -> Any:
            try:
                result = plain(instance, *arguments)
            except BaseException as error:
                if isinstance(error, MemoryError):
                    self.rows.fresh.clear()  # or there is none left to say so
                self.failures.append(_raised(name, error))
                raise
            if not stacked:
                self.ended = True
            return result

        decode.watched = True  # type: ignore[attr-defined] # a mark on a function
        decoder.__init__ = init
        decoder.decode = decode


def _raised(name: str, error: BaseException) -> str:
    trace = error.__traceback__
    where = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path != __file__:  # the last place that is not this file
            where = f" ({'/'.join(path.split('/')[-2:])} line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"decoder {name} raised {type(error).__name__}: {error}{where}"


def _check(result: int, what: str) -> None:
    if result:
        raise RuntimeError(f"{what} failed ({result})")


def _declare(library: Any, functions: Mapping[str, tuple[Any, ...]]) -> None:
    for name, kinds in functions.items():
        function = getattr(library, name)
        function.restype = kinds[0]
        function.argtypes = kinds[1:]


# Functions: what each returns, then what it takes.
_GLIB: dict[str, tuple[Any, ...]] = {
    "g_variant_new_string": (c_void_p, c_char_p),
    "g_variant_new_int32": (c_void_p, c_int),
    "g_variant_new_int64": (c_void_p, c_int64),
    "g_variant_new_uint64": (c_void_p, c_uint64),
    "g_variant_new_double": (c_void_p, c_double),
    "g_variant_ref_sink": (c_void_p, c_void_p),
    "g_hash_table_new": (c_void_p, c_void_p, c_void_p),
    "g_hash_table_insert": (c_void_p, c_void_p, c_void_p, c_void_p),
    "g_strdup": (c_void_p, c_char_p),
}
_SRD: dict[str, tuple[Any, ...]] = {
    "srd_session_new": (c_int, POINTER(c_void_p)),
    "srd_decoder_load": (c_int, c_char_p),
    "srd_decoder_get_by_id": (c_void_p, c_char_p),
    "srd_inst_new": (c_void_p, c_void_p, c_char_p, c_void_p),
    "srd_inst_channel_set_all": (c_int, c_void_p, c_void_p),
    "srd_inst_stack": (c_int, c_void_p, c_void_p, c_void_p),
    "srd_session_metadata_set": (c_int, c_void_p, c_int, c_void_p),
    "srd_session_start": (c_int, c_void_p),
    "srd_session_send": (c_int, c_void_p, c_uint64, c_uint64, c_void_p, c_uint64, c_uint64),
    "srd_package_version_string_get": (c_char_p,),
}
