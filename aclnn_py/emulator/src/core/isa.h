// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file named *.isa.cpp is compiled once per instruction set level on x86-64, with -DEMU_ISA=base,
// v3 or v4, and once (base) on other machines. It includes this header, puts its code in `namespace
// EMU_ISA_NS`, and an ordinary file picks one of the copies:
//
//     namespace isa_base { void gemm(const Gemm &); }        // likewise isa_v3, isa_v4
//     const auto gemm = EMU_PICK_ISA(gemm);                  // the copy isa_level() asks for
//
// EMU_DECLARE_ISA(prototype) writes the declarations: EMU_DECLARE_ISA(void gemm(const Gemm &););

#define EMU_ISA_JOIN2(a, b) a##b
#define EMU_ISA_JOIN(a, b) EMU_ISA_JOIN2(a, b)
#if defined(EMU_ISA) && !defined(EMU_ISA_NS)
#define EMU_ISA_NS EMU_ISA_JOIN(isa_, EMU_ISA)
#endif

#if defined(__x86_64__)
// clang-format off
#define EMU_DECLARE_ISA(...)            \
  namespace isa_base { __VA_ARGS__ }    \
  namespace isa_v3 { __VA_ARGS__ }      \
  namespace isa_v4 { __VA_ARGS__ }
// clang-format on
#define EMU_PICK_ISA(name)                   \
  (::emu::isa_level() >= 2   ? &isa_v4::name \
   : ::emu::isa_level() == 1 ? &isa_v3::name \
                             : &isa_base::name)
#else
#define EMU_DECLARE_ISA(...) \
  namespace isa_base {       \
  __VA_ARGS__                \
  }
#define EMU_PICK_ISA(name) (&isa_base::name)
#endif

namespace emu {

// 0: the base of the machine's architecture, 1: x86-64-v3, 2: x86-64-v4. Decided once from the
// processor and from ACLNN_PY_ISA=base|v3|v4, which can lower it only.
int isa_level();
const char *isa_name();

}  // namespace emu
