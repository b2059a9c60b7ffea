# SPDX-License-Identifier: Apache-2.0
"""Boxes of detection: regions sampled to one size, overlaps, and attention over points."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_REGIONS = {
    "boxes": "Shape ``(boxes, 5)``: the image, then ``x1, y1, x2, y2``; dtype of the features.",
    "output_size": "Height and width of each region's result, or one number for both.",
    "spatial_scale": "Factor from the coordinates of boxes to those of the features.",
    "sampling_ratio": "Samples along each axis of a bin; 0 takes about one for each element.",
    "aligned": "Whether coordinates are shifted by half an element.",
}
_MAPS = {
    "value": "Features, float32, float16 or bfloat16, shape ``(batch, keys, heads, channels)``; "
    "channels are a multiple of 8.",
    "spatial_shapes": "Height and width of each map, int32 or int64, shape ``(levels, 2)``.",
    "level_start_index": "First key of each map, int32 or int64, shape ``(levels,)``.",
    "sampling_locations": "``x, y`` of each point as a part of its map, shape ``(batch, queries, "
    "heads, levels, points, 2)``.",
    "attention_weights": "Weight of each point, shape ``(batch, queries, heads, levels, points)``.",
    "grad_output": "Gradient with respect to the result.",
}
_POINTS = (
    "value: Tensor, spatial_shapes: Tensor, level_start_index: Tensor, "
    "sampling_locations: Tensor, attention_weights: Tensor"
)
_BOXES = {
    "boxes1": "Corners ``x0, y0, x1, y1``, shape ``(m, 4)``.",
    "boxes2": "The same, shape ``(n, 4)``.",
    "mode": '"iou" divides by the area of both boxes together, "iof" by that of ``boxes2``.',
    "eps": "Added to the sides of boxes.",
    "aligned": "Whether box i meets box i only.",
}

ROWS = (
    Row(
        "roi_align",
        "input: Tensor, boxes: Tensor, output_size: int | tuple[int, ...], "
        "spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = False",
        "Average samples of each box's bins.",
        (Output("Shape ``(boxes, channels, height, width)``; dtype of ``input``.",
                "(boxes.shape[0], input.shape[1], *size)"),),
        ("roi_align_v2(channels_first(input), boxes, size[0], size[1], spatial_scale, "
         "sampling_ratio, aligned, channels_first(out))",),
        {**_REGIONS, "input": "Features, float32 or float16, shape ``(images, channels, height, "
         "width)``."},
        steps=("size = per_dimension('output_size', output_size, 2)",),
    ),
    Row(
        "roi_align_backward",
        "grad_output: Tensor, boxes: Tensor, input_shape: Sequence[int], "
        "spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = False",
        "Compute the gradient of `roi_align` with respect to its input.",
        (Output("Shape ``input_shape``; float32.", "tuple(input_shape)",
                "grad_output.dtype_name"),),
        ("roi_align_v2_backward(channels_first(grad_output), boxes, input_shape, "
         "grad_output.shape[2], grad_output.shape[3], spatial_scale, sampling_ratio, aligned, "
         "channels_first(out))",),
        {**_REGIONS, "grad_output": "Gradient with respect to the result, float32.",
         "input_shape": "Shape of the input of `roi_align`."},
    ),
    Row(
        "box_iou",
        "boxes1: Tensor, boxes2: Tensor, *, mode: str = 'iou', eps: float = 0.0, "
        "aligned: bool = False",
        "Divide the area that boxes share by the area that they cover.",
        (Output("Shape ``(m, n)``, or ``(m, 1)`` with ``aligned``; dtype of ``boxes1``.",
                "(boxes1.shape[0], 1 if aligned else boxes2.shape[0])", "boxes1.dtype_name"),),
        ("iou(boxes1, boxes2, mode, eps, aligned, out)",),
        _BOXES,
    ),
    Row(
        "complete_box_iou",
        "boxes: Tensor, targets: Tensor, *, centred: bool = False, mode: str = 'iou'",
        "Compare boxes with their targets by overlap, distance and shape.",
        (Output("Shape ``(1, n)``; dtype of ``boxes``.", "(1, boxes.shape[1])",
                "boxes.dtype_name", "overlap"),
         Output("Difference of the angles of the diagonals, of the same shape and dtype.",
                "(1, boxes.shape[1])", "boxes.dtype_name", "angle")),
        ("c_io_u(boxes, targets, centred, False, mode, overlap, angle)",),
        {"boxes": "Shape ``(4, n)``, float32 or float16: rows of corners ``x0, y0, x1, y1``; n is "
         "a multiple of 1024.",
         "targets": "The same; box i meets target i.",
         "centred": "Whether the rows are ``x, y`` of the centre, width and height.",
         "mode": '"iou" divides by the area of both together, "iof" by that of ``targets``.'},
        notes="Only chips of the 950 series have this operator.",
    ),
    Row(
        "non_max_suppression",
        "boxes: Tensor, scores: Tensor, max_output_boxes_per_class: int, "
        "iou_threshold: float = 0.5, score_threshold: float = 0.0, *, "
        "center_point_box: bool = False",
        "Choose the boxes with the highest scores that overlap no chosen one too much.",
        (Output("Rows of image, class and box, int32, shape ``(images * classes * "
                "max_output_boxes_per_class, 3)``; -1 where there is no box left.",
                "(scores.shape[0] * scores.shape[1] * max_output_boxes_per_class, 3)",
                "'int32'"),),
        ("non_max_suppression(boxes, scores, [max_output_boxes_per_class], [iou_threshold], "
         "[score_threshold], int(center_point_box), out)",),
        {"boxes": "Corners ``y1, x1, y2, x2``, shape ``(images, boxes, 4)``.",
         "scores": "Shape ``(images, classes, boxes)``; dtype of ``boxes``.",
         "max_output_boxes_per_class": "How many boxes each class of an image keeps, up to 700.",
         "iou_threshold": "Boxes that overlap a chosen one more than this are dropped.",
         "score_threshold": "Boxes with a lower score are dropped.",
         "center_point_box": "Whether boxes are ``x, y`` of their centre, width and height."},
        notes="Only the 310P has this operator.",
    ),
    Row(
        "multi_scale_deformable_attention",
        _POINTS,
        "Sum what lies at points of feature maps of several sizes.",
        (Output("Shape ``(batch, queries, heads * channels)``; dtype of ``value``.",
                "(*sampling_locations.shape[:2], value.shape[2] * value.shape[3])",
                "value.dtype_name"),),
        ("multi_scale_deformable_attn_function(value, spatial_shapes, level_start_index, "
         "sampling_locations, attention_weights, out)",),
        _MAPS,
        notes="There are at least 32 queries.",
    ),
    Row(
        "multi_scale_deformable_attention_backward",
        f"grad_output: Tensor, {_POINTS}",
        "Compute the gradients of `multi_scale_deformable_attention`.",
        (Output("Gradient with respect to ``value``; its shape and dtype.", "value.shape",
                "value.dtype_name", "grad_value"),
         Output("Gradient with respect to ``sampling_locations``; its shape and dtype.",
                "sampling_locations.shape", "sampling_locations.dtype_name", "grad_locations"),
         Output("Gradient with respect to ``attention_weights``; its shape and dtype.",
                "attention_weights.shape", "attention_weights.dtype_name", "grad_weights")),
        ("multi_scale_deformable_attention_grad(value, spatial_shapes, level_start_index, "
         "sampling_locations, attention_weights, grad_output, grad_value, grad_locations, "
         "grad_weights)",),
        _MAPS,
    ),
)  # fmt: skip
