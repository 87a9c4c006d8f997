# One object library per folder of src/, linked directly (not through archives) into every
# product: op rows and bindings register themselves, and an archive would drop files that nothing
# refers to.
include_guard(GLOBAL)

# gw_compile_setup(<target>): include folders and definitions that every file of the core sees.
function(gw_compile_setup target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                               "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${target} PRIVATE GW_BUILDING_CORE=1)
  target_link_libraries(${target} PRIVATE gw_fmt)
  if(GW_THREADS STREQUAL "tbb")
    target_compile_definitions(${target} PRIVATE GW_USE_TBB=1)
  else()
    target_compile_definitions(${target} PRIVATE GW_STD_THREAD_POOL=1)
  endif()
endfunction()

# gw_add_layer(<folder>): object library gw_<folder> of src/<folder>/*.cpp and those of a folder
# `rules` in it, added to graphwright_core. Files named *.isa.cpp are left out: they make sense
# only per vector width.
function(gw_add_layer folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp"
       "${PROJECT_SOURCE_DIR}/src/${folder}/rules/*.cpp")
  list(FILTER sources EXCLUDE REGEX "\\.isa\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(gw_${folder} OBJECT ${sources})
  gw_compile_setup(gw_${folder})
  if(folder STREQUAL "base" AND GW_THREADS STREQUAL "tbb")
    target_include_directories(gw_base SYSTEM PRIVATE "${GW_TBB_INCLUDE_DIR}")
  endif()
  target_sources(graphwright_core INTERFACE $<TARGET_OBJECTS:gw_${folder}>)
endfunction()

# gw_add_isa_sources(<target> <file>...): compiles each file once per vector width, as object
# libraries <target>_<isa>, with GW_ISA defined to the width's name (sse42, avx2, avx512;
# `generic` on other CPUs).
#
# The objects are added after all baseline objects and narrowest first. That order matters: of an
# inline function emitted by several files (say, a std::vector member) the linker keeps the first
# copy, and this way it is never one that needs a wider CPU than its callers do.
#
# These files vectorise by hand. The compiler's own vectoriser is off in them: GCC 12 turns
# a * c - b * d beside a * d + b * c into fused operations even under -ffp-contract=off.
function(gw_add_isa_sources target)
  if(NOT ARGN)
    return()
  endif()
  if(GW_X86_64)
    set(isas sse42 avx2 avx512)
  else()
    set(isas generic)
  endif()
  set(flags_sse42 -msse4.2 -mpopcnt)
  set(flags_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2
                   -mprefer-vector-width=512)
  set(flags_generic "")
  foreach(isa IN LISTS isas)
    add_library(${target}_${isa} OBJECT ${ARGN})
    gw_compile_setup(${target}_${isa})
    target_compile_definitions(${target}_${isa} PRIVATE GW_ISA=${isa})
    target_compile_options(${target}_${isa} PRIVATE ${flags_${isa}} -fno-tree-vectorize
                                                    -fno-tree-slp-vectorize)
    set_property(GLOBAL APPEND PROPERTY GW_ISA_OBJECTS_${isa} $<TARGET_OBJECTS:${target}_${isa}>)
  endforeach()
endfunction()

# gw_finish_isa_sources(): adds what gw_add_isa_sources compiled to graphwright_core, the narrowest
# width first. As link items, not sources, they come after every other object of a product.
function(gw_finish_isa_sources)
  foreach(isa IN ITEMS generic sse42 avx2 avx512)
    get_property(objects GLOBAL PROPERTY GW_ISA_OBJECTS_${isa})
    if(objects)
      target_link_libraries(graphwright_core INTERFACE ${objects})
    endif()
  endforeach()
endfunction()
