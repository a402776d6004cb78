"""PyTensor's casts of elements, one for each dtype."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.basic import _convert_to_bool as convert_to_bool
from pytensor.tensor.basic import _convert_to_complex64 as convert_to_complex64
from pytensor.tensor.basic import _convert_to_complex128 as convert_to_complex128
from pytensor.tensor.basic import _convert_to_float16 as convert_to_float16
from pytensor.tensor.basic import _convert_to_float32 as convert_to_float32
from pytensor.tensor.basic import _convert_to_float64 as convert_to_float64
from pytensor.tensor.basic import _convert_to_int8 as convert_to_int8
from pytensor.tensor.basic import _convert_to_int16 as convert_to_int16
from pytensor.tensor.basic import _convert_to_int32 as convert_to_int32
from pytensor.tensor.basic import _convert_to_int64 as convert_to_int64
from pytensor.tensor.basic import _convert_to_uint8 as convert_to_uint8
from pytensor.tensor.basic import _convert_to_uint16 as convert_to_uint16
from pytensor.tensor.basic import _convert_to_uint32 as convert_to_uint32
from pytensor.tensor.basic import _convert_to_uint64 as convert_to_uint64
