# SPDX-License-Identifier: Apache-2.0
# cmake --install, and what find_package(GPURegistration) reads afterwards.
include(CMakePackageConfigHelpers)

set(_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/GPURegistration)
set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/GPURegistration)
set(_plugin_dir ${CMAKE_INSTALL_LIBDIR}/GPURegistration-plugin)

install(TARGETS GPURegistration EXPORT GPURegistrationTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        INCLUDES DESTINATION ${_include_dir})
install(TARGETS GPURegistrationPlugin LIBRARY DESTINATION ${_plugin_dir})
install(DIRECTORY include/ DESTINATION ${_include_dir} FILES_MATCHING PATTERN "*.h" PATTERN "*.hxx")
install(FILES ${PROJECT_BINARY_DIR}/include/GPURegistrationExport.h DESTINATION ${_include_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

get_target_property(_type GPURegistration TYPE)
set(_needs_cuda_runtime OFF)
if(GPURegistration_HAS_CUDA AND _type STREQUAL "STATIC_LIBRARY")
  set(_needs_cuda_runtime ON)
endif()

install(EXPORT GPURegistrationTargets NAMESPACE GPURegistration:: DESTINATION ${_package_dir})
configure_package_config_file(cmake/GPURegistrationConfig.cmake.in ${PROJECT_BINARY_DIR}/GPURegistrationConfig.cmake
                              INSTALL_DESTINATION ${_package_dir} PATH_VARS _plugin_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/GPURegistrationConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/GPURegistrationConfig.cmake ${PROJECT_BINARY_DIR}/GPURegistrationConfigVersion.cmake
        DESTINATION ${_package_dir})
