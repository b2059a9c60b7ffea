// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything is compiled with -fvisibility=hidden: only the C entry points leave the library.
#define EMU_EXPORT extern "C" __attribute__((visibility("default")))
