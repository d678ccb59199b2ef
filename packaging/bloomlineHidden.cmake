# Hides the static library in what links it, for the installed package and for CMakeLists.txt: a shared
# library then exports none of its functions, and two that have it have each their own.
if(UNIX AND NOT APPLE)
  set_property(TARGET bloomline::static APPEND PROPERTY INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,libbloomline.a")
endif()
