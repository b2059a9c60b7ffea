# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Boxes of detection: regions sampled to one size, overlaps, and attention over points."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import channels_first, per_dimension
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "box_iou",
    "complete_box_iou",
    "multi_scale_deformable_attention",
    "multi_scale_deformable_attention_backward",
    "non_max_suppression",
    "roi_align",
    "roi_align_backward",
]


@remembered
def roi_align(
    input: Tensor,
    boxes: Tensor,
    output_size: int | tuple[int, ...],
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Average samples of each box's bins.

    Parameters
    ----------
    input : Tensor
        Features, float32 or float16, shape ``(images, channels, height, width)``.
    boxes : Tensor
        Shape ``(boxes, 5)``: the image, then ``x1, y1, x2, y2``; dtype of the features. 2
        dimensions; dtype float32 | float16.
    output_size : int or tuple of int
        Height and width of each region's result, or one number for both.
    spatial_scale : float, default 1.0
        Factor from the coordinates of boxes to those of the features.
    sampling_ratio : int, default 0
        Samples along each axis of a bin; 0 takes about one for each element.
    aligned : bool, default False
        Whether coordinates are shifted by half an element.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(boxes, channels, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRoiAlignV2 (``include/aclnnop/objdetect.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, boxes=boxes)
    size = per_dimension("output_size", output_size, 2)
    out = empty((boxes.shape[0], input.shape[1], *size), input.dtype_name, device=input.device)
    ops.roi_align_v2(
        channels_first(input),
        boxes,
        size[0],
        size[1],
        spatial_scale,
        sampling_ratio,
        aligned,
        channels_first(out),
        stream=stream,
    )
    return out


@remembered
def roi_align_backward(
    grad_output: Tensor,
    boxes: Tensor,
    input_shape: Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of `roi_align` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result, float32.
    boxes : Tensor
        Shape ``(boxes, 5)``: the image, then ``x1, y1, x2, y2``; dtype of the features. 2
        dimensions; dtype float32.
    input_shape : sequence of int
        Shape of the input of `roi_align`.
    spatial_scale : float, default 1.0
        Factor from the coordinates of boxes to those of the features.
    sampling_ratio : int, default 0
        Samples along each axis of a bin; 0 takes about one for each element.
    aligned : bool, default False
        Whether coordinates are shifted by half an element.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``input_shape``; float32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRoiAlignV2Backward (``include/aclnnop/objdetect.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, boxes=boxes)
    out = empty(tuple(input_shape), grad_output.dtype_name, device=grad_output.device)
    ops.roi_align_v2_backward(
        channels_first(grad_output),
        boxes,
        input_shape,
        grad_output.shape[2],
        grad_output.shape[3],
        spatial_scale,
        sampling_ratio,
        aligned,
        channels_first(out),
        stream=stream,
    )
    return out


@remembered
def box_iou(
    boxes1: Tensor,
    boxes2: Tensor,
    *,
    mode: str = "iou",
    eps: float = 0.0,
    aligned: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Divide the area that boxes share by the area that they cover.

    Parameters
    ----------
    boxes1 : Tensor
        Corners ``x0, y0, x1, y1``, shape ``(m, 4)``. 2 dimensions; dtype float32 | float16 |
        bfloat16.
    boxes2 : Tensor
        The same, shape ``(n, 4)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    mode : str, default 'iou'
        "iou" divides by the area of both boxes together, "iof" by that of ``boxes2``.
    eps : float, default 0.0
        Added to the sides of boxes.
    aligned : bool, default False
        Whether box i meets box i only.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``, or ``(m, 1)`` with ``aligned``; dtype of ``boxes1``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIou (``include/aclnnop/objdetect.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(boxes1=boxes1, boxes2=boxes2)
    out = empty(
        (boxes1.shape[0], 1 if aligned else boxes2.shape[0]),
        boxes1.dtype_name,
        device=boxes1.device,
    )
    ops.iou(boxes1, boxes2, mode, eps, aligned, out, stream=stream)
    return out


def complete_box_iou(
    boxes: Tensor,
    targets: Tensor,
    *,
    centred: bool = False,
    mode: str = "iou",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compare boxes with their targets by overlap, distance and shape.

    Parameters
    ----------
    boxes : Tensor
        Shape ``(4, n)``, float32 or float16: rows of corners ``x0, y0, x1, y1``; n is a multiple of
        1024. 2 dimensions; dtype float32 | float16.
    targets : Tensor
        The same; box i meets target i. 2 dimensions; dtype float32 | float16.
    centred : bool, default False
        Whether the rows are ``x, y`` of the centre, width and height.
    mode : str, default 'iou'
        "iou" divides by the area of both together, "iof" by that of ``targets``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    overlap : Tensor
        Shape ``(1, n)``; dtype of ``boxes``.
    angle : Tensor
        Difference of the angles of the diagonals, of the same shape and dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Only chips of the 950 series have this operator.

    Source
    ------
    aclnnCIoU (``include/aclnnop/objdetect.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(boxes=boxes, targets=targets)
    overlap = empty((1, boxes.shape[1]), boxes.dtype_name, device=boxes.device)
    angle = empty((1, boxes.shape[1]), boxes.dtype_name, device=boxes.device)
    ops.c_io_u(boxes, targets, centred, False, mode, overlap, angle, stream=stream)
    return overlap, angle


@remembered
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: int,
    iou_threshold: float = 0.5,
    score_threshold: float = 0.0,
    *,
    center_point_box: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Choose the boxes with the highest scores that overlap no chosen one too much.

    Parameters
    ----------
    boxes : Tensor
        Corners ``y1, x1, y2, x2``, shape ``(images, boxes, 4)``. 3 dimensions; dtype float32 |
        float16.
    scores : Tensor
        Shape ``(images, classes, boxes)``; dtype of ``boxes``. 3 dimensions; dtype float32 |
        float16.
    max_output_boxes_per_class : int
        How many boxes each class of an image keeps, up to 700.
    iou_threshold : float, default 0.5
        Boxes that overlap a chosen one more than this are dropped.
    score_threshold : float, default 0.0
        Boxes with a lower score are dropped.
    center_point_box : bool, default False
        Whether boxes are ``x, y`` of their centre, width and height.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Rows of image, class and box, int32, shape ``(images * classes * max_output_boxes_per_class,
        3)``; -1 where there is no box left.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Only the 310P has this operator.

    Source
    ------
    aclnnNonMaxSuppression (``include/aclnnop/objdetect.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(boxes=boxes, scores=scores)
    out = empty(
        (scores.shape[0] * scores.shape[1] * max_output_boxes_per_class, 3),
        "int32",
        device=boxes.device,
    )
    ops.non_max_suppression(
        boxes,
        scores,
        [max_output_boxes_per_class],
        [iou_threshold],
        [score_threshold],
        int(center_point_box),
        out,
        stream=stream,
    )
    return out


@remembered
def multi_scale_deformable_attention(
    value: Tensor,
    spatial_shapes: Tensor,
    level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Sum what lies at points of feature maps of several sizes.

    Parameters
    ----------
    value : Tensor
        Features, float32, float16 or bfloat16, shape ``(batch, keys, heads, channels)``; channels
        are a multiple of 8. 4 dimensions; dtype float32 | float16 | bfloat16.
    spatial_shapes : Tensor
        Height and width of each map, int32 or int64, shape ``(levels, 2)``. 2 dimensions; dtype
        int32 | int64.
    level_start_index : Tensor
        First key of each map, int32 or int64, shape ``(levels,)``. 1 dimension; dtype int32 |
        int64.
    sampling_locations : Tensor
        ``x, y`` of each point as a part of its map, shape ``(batch, queries, heads, levels, points,
        2)``. 6 dimensions; dtype float32 | float16 | bfloat16.
    attention_weights : Tensor
        Weight of each point, shape ``(batch, queries, heads, levels, points)``. 5 dimensions; dtype
        float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(batch, queries, heads * channels)``; dtype of ``value``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    There are at least 32 queries.

    Source
    ------
    aclnnMultiScaleDeformableAttnFunction (``include/aclnnop/vfusion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        value=value,
        spatial_shapes=spatial_shapes,
        level_start_index=level_start_index,
        sampling_locations=sampling_locations,
        attention_weights=attention_weights,
    )
    out = empty(
        (*sampling_locations.shape[:2], value.shape[2] * value.shape[3]),
        value.dtype_name,
        device=value.device,
    )
    ops.multi_scale_deformable_attn_function(
        value,
        spatial_shapes,
        level_start_index,
        sampling_locations,
        attention_weights,
        out,
        stream=stream,
    )
    return out


def multi_scale_deformable_attention_backward(
    grad_output: Tensor,
    value: Tensor,
    spatial_shapes: Tensor,
    level_start_index: Tensor,
    sampling_locations: Tensor,
    attention_weights: Tensor,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of `multi_scale_deformable_attention`.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16.
    value : Tensor
        Features, float32, float16 or bfloat16, shape ``(batch, keys, heads, channels)``; channels
        are a multiple of 8. 4 dimensions; dtype float32 | float16 | bfloat16.
    spatial_shapes : Tensor
        Height and width of each map, int32 or int64, shape ``(levels, 2)``. 2 dimensions; dtype
        int32 | int64.
    level_start_index : Tensor
        First key of each map, int32 or int64, shape ``(levels,)``. 1 dimension; dtype int32 |
        int64.
    sampling_locations : Tensor
        ``x, y`` of each point as a part of its map, shape ``(batch, queries, heads, levels, points,
        2)``. 6 dimensions; dtype float32 | float16 | bfloat16.
    attention_weights : Tensor
        Weight of each point, shape ``(batch, queries, heads, levels, points)``. 5 dimensions; dtype
        float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_value : Tensor
        Gradient with respect to ``value``; its shape and dtype.
    grad_locations : Tensor
        Gradient with respect to ``sampling_locations``; its shape and dtype.
    grad_weights : Tensor
        Gradient with respect to ``attention_weights``; its shape and dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMultiScaleDeformableAttentionGrad (``include/aclnnop/vfusion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        value=value,
        spatial_shapes=spatial_shapes,
        level_start_index=level_start_index,
        sampling_locations=sampling_locations,
        attention_weights=attention_weights,
    )
    grad_value = empty(value.shape, value.dtype_name, device=grad_output.device)
    grad_locations = empty(
        sampling_locations.shape, sampling_locations.dtype_name, device=grad_output.device
    )
    grad_weights = empty(
        attention_weights.shape, attention_weights.dtype_name, device=grad_output.device
    )
    ops.multi_scale_deformable_attention_grad(
        value,
        spatial_shapes,
        level_start_index,
        sampling_locations,
        attention_weights,
        grad_output,
        grad_value,
        grad_locations,
        grad_weights,
        stream=stream,
    )
    return grad_value, grad_locations, grad_weights
