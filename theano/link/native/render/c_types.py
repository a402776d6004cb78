"""NumPy's types as C types."""

C_TYPES = {
    "bool": "unsigned char",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "int64_t",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}
