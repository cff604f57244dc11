# For cmake -DCMAKE_TOOLCHAIN_FILE: compiles for TRIGON_ARCH, aarch64 or x86_64, on the other of the two.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRIGON_ARCH)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${TRIGON_ARCH}")
set(CMAKE_C_COMPILER "${TRIGON_ARCH}-linux-gnu-gcc")
# libibverbs' headers, which fetch.sh brings
set(CMAKE_C_FLAGS_INIT "-isystem ${CMAKE_CURRENT_LIST_DIR}/../../.cross/${TRIGON_ARCH}/headers/usr/include")
