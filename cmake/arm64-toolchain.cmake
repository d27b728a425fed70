# Cross build for arm64 on Debian: packages with the suffix :arm64 beside the native ones, tests under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# Headers are shared by all architectures; libraries lie in the multiarch folder.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_SYSTEM_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu/cmake /usr/lib/x86_64-linux-gnu/pkgconfig)
set(CMAKE_PREFIX_PATH /usr/lib/aarch64-linux-gnu/cmake)

set(SAMEBIT_QEMU_CPU max CACHE STRING "CPU model that the tests run on")
# The cross compiler brings libc, the packages bring the other libraries.
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64 -cpu ${SAMEBIT_QEMU_CPU} -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:/usr/lib/aarch64-linux-gnu)
