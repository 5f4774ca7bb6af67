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
from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from typing import Any

__all__ = ["Library", "Rows", "Session"]

_OUTPUT_ANNOTATION = 0
_CONF_SAMPLERATE = 10000
_LOG_ERRORS = 1
_ANNOTATION_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
_FourWords = c_uint64 * 4  # srd_proto_data: start_sample, end_sample, pdo, data
_POINTER_B = ctypes.sizeof(c_void_p)
_REFERENCES = 1 << 40


class Rows:
    """Annotations as columns; ``text`` counts the lists of wordings in ``wordings``."""

    def __init__(self) -> None:
        self.start = array("Q")
        self.end = array("Q")
        self.ann_class = array("i")
        self.text = array("i")
        self.wordings: list[tuple[bytes, ...]] = []
        self._known: dict[tuple[bytes, ...], int] = {}

    def add(self, start: int, end: int, ann_class: int, wordings: tuple[bytes, ...]) -> None:
        """Add an annotation."""
        text = self._known.get(wordings)
        if text is None:
            text = self._known[wordings] = len(self._known)
            self.wordings.append(wordings)
        self.start.append(start)
        self.end.append(end)
        self.ann_class.append(ann_class)
        self.text.append(text)

    def taken(self, most_texts: int) -> bool:
        """Forget the rows; return whether the texts begin again at 0, as there were too many."""
        for column in (self.start, self.end, self.ann_class, self.text):
            del column[:]
        self.wordings = []
        if len(self._known) <= most_texts:
            return False
        self._known = {}
        return True


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
        _declare(self.lib)
        # Symbols of what the library depends on are found through the library.
        self.glib = ctypes.CDLL(path)
        _declare_glib(self.glib)
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
        self.rows = Rows()
        self.failures: list[str] = []
        self.ended = False
        self._lib = library.lib
        self._session = library.session
        self._unitsize_B = unitsize_B
        below: c_void_p | None = None
        for level, step in enumerate(stack):
            name = str(step["id"])
            self._watch(library.load(name), name, stacked=level > 0)
            made = self._lib.srd_inst_new(
                self._session, name.encode(), library.variants(step["options"])
            )
            if not made:
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
        assert below is not None  # srd_session_start without an instance crashes
        rate = c_void_p(library.glib.g_variant_new_uint64(c_uint64(samplerate_hz)))
        _check(
            self._lib.srd_session_metadata_set(self._session, _CONF_SAMPLERATE, rate),
            "setting the sample rate",
        )
        self._callback = _ANNOTATION_CALLBACK(self._receiver(int(below.value or 0)))
        _check(
            self._lib.srd_pd_output_callback_add(
                self._session, _OUTPUT_ANNOTATION, self._callback, None
            ),
            "asking for annotations",
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

    def _watch(self, decoder: Any, name: str, *, stacked: bool) -> None:
        """Keep what the decoder raises: the library prints it, and goes on or stops in silence."""
        plain = decoder.decode
        if getattr(plain, "watched", False):  # the same decoder twice in a stack
            return

        def decode(instance: Any, *arguments: Any) -> Any:
            try:
                result = plain(instance, *arguments)
            except BaseException as error:
                self.failures.append(_raised(name, error))
                raise
            if not stacked:
                self.ended = True
            return result

        decode.watched = True  # type: ignore[attr-defined] # a mark on a function
        decoder.decode = decode

    def _receiver(self, top: int) -> Callable[[int, Any], None]:
        words = _FourWords.from_address
        string = c_char_p.from_address
        number = c_int.from_address
        pointer = c_void_p.from_address
        add = self.rows.add
        is_top: dict[int, bool] = {}

        def receive(data_address: int, _: Any) -> None:
            try:
                start, end, output, data = words(data_address)
                wanted = is_top.get(output)
                if wanted is None:
                    # srd_pd_output: two ints, then the instance.
                    wanted = is_top[output] = pointer(output + 8).value == top
                if not wanted:
                    return
                at = pointer(data + _POINTER_B).value or 0
                wordings = []
                while (text := string(at).value) is not None:
                    wordings.append(text)
                    at += _POINTER_B
                add(start, end, number(data).value, tuple(wordings))
            except Exception as error:  # ctypes would print it and go on without this row
                self.failures.append(f"receiving an annotation: {type(error).__name__}: {error}")

        return receive


def _raised(name: str, error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace is not None:
        file = "/".join(trace.tb_frame.f_code.co_filename.split("/")[-2:])
        where = f" ({file} line {trace.tb_lineno})"
    return f"decoder {name} raised {type(error).__name__}: {error}{where}"


def _check(result: int, what: str) -> None:
    if result:
        raise RuntimeError(f"{what} failed ({result})")


def _declare_glib(glib: Any) -> None:
    for name, kinds in {
        "g_variant_new_string": [c_char_p],
        "g_variant_new_int32": [c_int],
        "g_variant_new_int64": [c_int64],
        "g_variant_new_uint64": [c_uint64],
        "g_variant_new_double": [c_double],
        "g_variant_ref_sink": [c_void_p],
        "g_hash_table_new": [c_void_p, c_void_p],
        "g_hash_table_insert": [c_void_p, c_void_p, c_void_p],
        "g_strdup": [c_char_p],
    }.items():
        function = getattr(glib, name)
        function.argtypes = kinds
        function.restype = c_void_p


def _declare(lib: Any) -> None:
    lib.srd_session_new.argtypes = [POINTER(c_void_p)]
    lib.srd_decoder_load.argtypes = [c_char_p]
    lib.srd_decoder_get_by_id.argtypes = [c_char_p]
    lib.srd_decoder_get_by_id.restype = c_void_p
    lib.srd_inst_new.argtypes = [c_void_p, c_char_p, c_void_p]
    lib.srd_inst_new.restype = c_void_p
    lib.srd_inst_channel_set_all.argtypes = [c_void_p, c_void_p]
    lib.srd_inst_stack.argtypes = [c_void_p, c_void_p, c_void_p]
    lib.srd_session_metadata_set.argtypes = [c_void_p, c_int, c_void_p]
    lib.srd_pd_output_callback_add.argtypes = [c_void_p, c_int, _ANNOTATION_CALLBACK, c_void_p]
    lib.srd_session_start.argtypes = [c_void_p]
    lib.srd_session_send.argtypes = [c_void_p, c_uint64, c_uint64, c_void_p, c_uint64, c_uint64]
    lib.srd_package_version_string_get.restype = c_char_p
