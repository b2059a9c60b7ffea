# SPDX-License-Identifier: Apache-2.0
"""Device memory and pinned host memory: blocks, buffers, allocators, workspaces."""
