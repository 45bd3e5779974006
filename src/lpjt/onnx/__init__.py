"""Models in the exchange format ONNX, for programs without Python: `to_onnx`, and a converter for skl2onnx."""

from lpjt.onnx.convert import register_converters, to_onnx

__all__ = ["register_converters", "to_onnx"]
