# SPDX-License-Identifier: LGPL-2.1-or-later
# Toolchain file: builds for another processor with Debian's cross compiler, and has qemu run what was built.
#
# PCP_TRACE_CROSS is the processor as compilers name it: aarch64, s390x, riscv64 ... PCP_TRACE_CROSS_ROOT may be a
# directory with further files of that machine: PCP's packages can be unpacked there, since Debian lets one install them
# for one processor only.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PCP_TRACE_CROSS PCP_TRACE_CROSS_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PCP_TRACE_CROSS})
set(CMAKE_C_COMPILER ${PCP_TRACE_CROSS}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${PCP_TRACE_CROSS}-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${PCP_TRACE_CROSS}-static)
find_program(PCP_TRACE_GNU_LINKER ${PCP_TRACE_CROSS}-linux-gnu-ld.bfd REQUIRED)
if(PCP_TRACE_CROSS_ROOT)
  set(CMAKE_PREFIX_PATH ${PCP_TRACE_CROSS_ROOT}/usr)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${PCP_TRACE_CROSS_ROOT}/usr/lib)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L ${PCP_TRACE_CROSS_ROOT})
endif()
