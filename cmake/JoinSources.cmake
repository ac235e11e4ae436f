# SPDX-License-Identifier: Apache-2.0
# Compiles several sources as one, so that the compiler reads and instantiates once what they share. A complete build, as test.sh makes,
# takes less than half of the compiler's time for them; but a change to one source compiles all that are joined with it.
option(GPURegistration_JOIN_PROGRAMS "Compile tests, examples and benchmarks in groups" OFF)
mark_as_advanced(GPURegistration_JOIN_PROGRAMS)

# gpuregistration_join_sources(OUTPUT SOURCE…): writes a source that includes the given sources, named by their full paths. Includes come
# first, and so stay outside of namespaces. Each source gets a namespace of its own, named after its file, because sources have functions of
# equal names; it lies within gpuregtest or gpureg if the source begins with that namespace.
function(gpuregistration_join_sources output)
  set(includes)
  set(bodies)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} lines REGEX "^#include ")
    foreach(line IN LISTS lines)
      if(line MATCHES "^#include \"(.*)\"")
        set(beside ${folder}/${CMAKE_MATCH_1})
        if(EXISTS ${beside})
          set(line "#include \"${beside}\"")
        endif()
      endif()
      list(APPEND includes "${line}")
    endforeach()
    file(STRINGS ${source} opened REGEX "^namespace (gpureg|gpuregtest)$")
    if(opened)
      # A test may declare functions of gpureg before it begins.
      list(GET opened -1 its)
      string(REPLACE "namespace " "" its "${its}")
      string(APPEND bodies "namespace ${its}::${name}\n{\nusing namespace ${its};\n}\n#define ${its} ${its}::${name}\n"
                           "#include \"${source}\"\n#undef ${its}\n")
    else()
      string(APPEND bodies "namespace ${name}\n{\n#include \"${source}\"\n}\n")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  # GCC takes the sources for headers, whose classes with unnamed bases would differ from source to source.
  set(pragma "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n#endif\n")
  file(GENERATE OUTPUT ${output} CONTENT "${includes}\n${pragma}${bodies}")
endfunction()

# gpuregistration_join_programs(TARGET SOURCE…): adds a program that contains others, each from one source with a main(); its first argument
# names the one to run, as the source is named.
function(gpuregistration_join_programs target)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/${target}.cxx)
  gpuregistration_join_sources(${joined} ${ARGN})
  set(declarations)
  set(calls)
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    string(APPEND declarations "namespace ${name}\n{\nint\nmain(int argc, char * argv[]);\n}\n")
    string(APPEND calls "  if (name == \"${name}\")\n  {\n    return ${name}::main(argc - 1, argv + 1);\n  }\n")
  endforeach()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${target}Main.cxx)
  file(
    GENERATE
    OUTPUT ${main}
    CONTENT "#include <iostream>\n#include <string>\n${declarations}\nint\nmain(int argc, char * argv[])\n{
  const std::string name = argc > 1 ? argv[1] : \"\";\n${calls}  std::cerr << \"There is no program \" << name << '\\n';
  return 2;\n}\n")
  set_source_files_properties(${main} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  add_executable(${target} ${joined} ${main})
endfunction()
