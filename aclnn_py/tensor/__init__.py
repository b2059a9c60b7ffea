# SPDX-License-Identifier: Apache-2.0
"""Tensors: element types, formats, layouts, and the way of elements to the device and back."""
