# Flags for every file of ours. The numerics contract needs -ffp-contract=off and forbids -ffast-
# math and its parts that change values; -fno-math-errno only drops errno, so that sqrt is one
# instruction.
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # there are none, and with clang it is a pass over every file
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

add_compile_options(-ffp-contract=off -fno-math-errno -fno-semantic-interposition
                    -ffunction-sections -fdata-sections -fdiagnostics-color=auto -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Vector types passed between inline functions are never part of an ABI here.
  add_compile_options(-Wno-psabi)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of g++'s own library uses what that library calls deprecated, which clang
  # reports at our calls.
  add_compile_options(-Wno-deprecated-declarations)
  # What a formula says of itself is read in the compilations of some vector widths only.
  add_compile_options(-Wno-unused-const-variable)
endif()
if(GW_WERROR)
  add_compile_options(-Werror)
endif()
add_link_options(-Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(GW_X86_64 ON)
  add_compile_options(-march=x86-64-v2)
else()
  set(GW_X86_64 OFF)
endif()

if(GW_SANITIZE)
  string(REPLACE ";" "," _gw_sanitizers "${GW_SANITIZE}")
  add_compile_options(-fsanitize=${_gw_sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_gw_sanitizers})
  if("undefined" IN_LIST GW_SANITIZE)
    # g++ takes no pointer for non-null in a constant expression while it checks for null pointers,
    # and the op table is checked at compile time. A null pointer still ends the program.
    add_compile_options(-fno-sanitize-recover=undefined
                        -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()

# The fast linker and the compiler cache are used where they are installed.
find_program(GW_CCACHE ccache)
if(GW_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${GW_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${GW_CCACHE}")
endif()
find_program(GW_MOLD NAMES ld.mold mold)
if(GW_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
