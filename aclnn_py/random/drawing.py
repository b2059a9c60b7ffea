# SPDX-License-Identifier: Apache-2.0
"""Draws of a generator, with the names and arguments of ``numpy.random.Generator``."""

from __future__ import annotations

from typing import Any

from aclnn_py import late
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Drawing", "Size"]

Size = int | tuple[int, ...] | None


class Drawing:
    """The methods of ``Generator`` that make tensors of random numbers."""

    __slots__ = ()

    def random(self, size: Size = None, dtype: Any = "float64") -> Tensor:
        """Draw numbers from 0 to 1, without 1, as ``numpy.random.Generator`` does.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; a 0-d tensor by default.
        dtype : dtype-like, default float64
            Also float32, float16 or bfloat16.

        Returns
        -------
        Tensor
            The distribution is NumPy's; the numbers of a seed are CANN's.
        """
        drawn: Tensor = late.drawing.random(self, size, dtype)
        return drawn

    def standard_normal(self, size: Size = None, dtype: Any = "float64") -> Tensor:
        """Draw from the normal distribution around 0; parameters as for ``random``."""
        drawn: Tensor = late.drawing.normal(self, 0.0, 1.0, size, dtype)
        return drawn

    def normal(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: Any = "float64"
    ) -> Tensor:
        """Draw from normal distributions.

        Parameters
        ----------
        loc, scale : number or Tensor
            Mean and standard deviation; tensors are broadcast.
        size : int or tuple of int, optional
            Default: the shape of ``loc`` and ``scale`` together.
        dtype : dtype-like, default float64
        """
        drawn: Tensor = late.drawing.normal(self, loc, scale, size, dtype)
        return drawn

    def uniform(
        self, low: Any = 0.0, high: Any = 1.0, size: Size = None, dtype: Any = "float64"
    ) -> Tensor:
        """Draw numbers from ``low`` to ``high``, without ``high``; parameters as for ``normal``."""
        drawn: Tensor = late.drawing.uniform(self, low, high, size, dtype)
        return drawn

    def exponential(self, scale: Any = 1.0, size: Size = None, dtype: Any = "float64") -> Tensor:
        """Draw from exponential distributions of mean ``scale``; parameters as for ``normal``."""
        drawn: Tensor = late.drawing.exponential(self, scale, size, dtype)
        return drawn

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: Any = "int64",
        endpoint: bool = False,
    ) -> Tensor:
        """Draw integers from ``low`` to ``high``, or from 0 to ``low`` if it stands alone.

        Parameters
        ----------
        low, high : int
            The ends; the second is not drawn.
        size : int or tuple of int, optional
        dtype : dtype-like, default int64
        endpoint : bool, default False
            Whether the second end is drawn too.

        Raises
        ------
        ValueError
            There are no such integers in the dtype.
        """
        drawn: Tensor = late.drawing.integers(self, low, high, size, dtype, endpoint)
        return drawn

    def permutation(self, x: Any, axis: int = 0) -> Tensor:
        """Return the integers below ``x``, or a copy of ``x``, in a random order along ``axis``."""
        drawn: Tensor = late.drawing.permutation(self, x, axis)
        return drawn

    def shuffle(self, x: Tensor, axis: int = 0) -> None:
        """Bring a tensor into a random order, in place.

        Parameters
        ----------
        x : Tensor
            What is written.
        axis : int, default 0
            The dimension whose slices change their places.
        """
        late.drawing.shuffle(self, x, axis)

    def choice(
        self, a: Any, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0
    ) -> Tensor:
        """Draw elements of ``a``, or integers below it.

        Parameters
        ----------
        a : int or Tensor
        size : int or tuple of int, optional
        replace : bool, default True
            Whether an element may be drawn twice.
        p : Tensor or array_like, optional
            Probabilities of the elements; all are the same by default.
        axis : int, default 0
            The dimension of ``a`` from which slices are drawn.

        Raises
        ------
        ValueError
            There are too few elements, or ``p`` does not fit.
        """
        drawn: Tensor = late.drawing.choice(self, a, size, replace, p, axis)
        return drawn
