# One call per instruction set: name, flags, sources. The only place with -m flags.
#
# Each group becomes an object library that is compiled optimised and without LTO in every build type: its inline
# functions must disappear into its kernels, so that no code of one instruction set can be linked into another's.
# xsimd's namespace is renamed per group for the same reason.
include(CheckCXXCompilerFlag)

function(samebit_isa name)
  cmake_parse_arguments(ARG "" "" "FLAGS;SOURCES" ${ARGN})
  string(TOUPPER ${name} upper)
  string(REPLACE ";" " " joined "${ARG_FLAGS}")
  set(CMAKE_REQUIRED_FLAGS "${joined}")
  check_cxx_compiler_flag("-O2" SAMEBIT_HAVE_${upper})
  if(NOT SAMEBIT_HAVE_${upper})
    message(STATUS "samebit: the compiler cannot build ${name}; the backend is left out")
    set_property(GLOBAL APPEND PROPERTY SAMEBIT_ISA_DEFINITIONS SB_NO_${upper})
    return()
  endif()
  add_library(samebit_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(samebit_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(samebit_${name} SYSTEM PRIVATE ${SAMEBIT_XSIMD_INCLUDE_DIR})
  target_compile_features(samebit_${name} PRIVATE cxx_std_20)
  target_compile_options(samebit_${name} PRIVATE ${SAMEBIT_WARNINGS} -ffp-contract=off ${ARG_FLAGS}
                         # A short loop that straddles 64-byte lines loses a fourth of its speed.
                         -falign-loops=64 -O2 -fno-lto -fno-exceptions -fno-sanitize=all -fvisibility=hidden -Dxsimd=samebit_xsimd_${name})
  set_target_properties(samebit_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF
                        CXX_EXTENSIONS OFF)
  set_property(GLOBAL APPEND PROPERTY SAMEBIT_ISA_TARGETS samebit_${name})
endfunction()

if(SAMEBIT_PROCESSOR STREQUAL "x86_64")
  samebit_isa(avx2 FLAGS -mavx2 -mfma SOURCES src/x86/avx2.cpp)
  samebit_isa(avxvnni FLAGS -mavx2 -mfma -mavxvnni SOURCES src/x86/avxvnni.cpp)
  set(avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mprefer-vector-width=512)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ 12 warns inside its own intrinsics (undefined operands).
    list(APPEND avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  samebit_isa(avx512 FLAGS ${avx512} SOURCES src/x86/avx512.cpp)
  samebit_isa(avx512vnni FLAGS ${avx512} -mavx512vnni SOURCES src/x86/avx512vnni.cpp)
  samebit_isa(avx512vbmi FLAGS ${avx512} -mavx512vbmi SOURCES src/x86/avx512vbmi.cpp)
elseif(SAMEBIT_PROCESSOR STREQUAL "aarch64")
  samebit_isa(neon FLAGS -march=armv8-a SOURCES src/arm/neon.cpp)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Tiles use all 32 registers, in the order of the source. g++ 12 would load more of B earlier, and spill.
    set(gemm -fno-schedule-insns)
  endif()
  samebit_isa(neon_dot FLAGS -march=armv8.2-a+dotprod ${gemm} SOURCES src/arm/neon_dot.cpp)
  samebit_isa(neon_i8mm FLAGS -march=armv8.2-a+dotprod+i8mm ${gemm} SOURCES src/arm/neon_i8mm.cpp)
endif()
