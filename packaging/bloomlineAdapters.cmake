# The targets of the adapters, for the installed package and for CMakeLists.txt:
#
#   bloomline::rocksdb   bloomline_rocksdb.h: the filter policy for RocksDB (needs C++)
#   bloomline::leveldb   bloomline_leveldb.h: the filter policy for LevelDB
#
# Each is a static library, compiled in the project that uses it, with the headers of that
# project's engine: RocksDB's classes differ between versions. The engine is a target that the project
# has when this runs (from find_package(RocksDB), add_subdirectory(rocksdb), FetchContent), or else
# an installed header and library.

# bloomline_add_adapter(ENGINE SOURCE INCLUDE-DIRECTORY): the target bloomline::ENGINE, or none where
# the engine is not found. bloomline_ENGINE_FOUND says which.
function(bloomline_add_adapter engine source include)
  set(bloomline_${engine}_FOUND FALSE PARENT_SCOPE)
  if(NOT TARGET bloomline::${engine})
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(engine STREQUAL "rocksdb")
      set(header rocksdb/filter_policy.h)
      set(language CXX)
      set(names RocksDB::rocksdb-shared RocksDB::rocksdb rocksdb-shared rocksdb)
    else()
      set(header leveldb/c.h)
      set(language C)
      set(names leveldb::leveldb leveldb)
    endif()
    if(NOT language IN_LIST languages)
      return()
    endif()

    set(target "")
    foreach(name ${names})
      if(TARGET ${name} AND NOT target)
        set(target ${name})
      endif()
    endforeach()
    if(NOT target)
      find_path(bloomline_${engine}_INCLUDE ${header})
      find_library(bloomline_${engine}_LIBRARY ${engine})
      mark_as_advanced(bloomline_${engine}_INCLUDE bloomline_${engine}_LIBRARY)
      if(NOT bloomline_${engine}_INCLUDE OR NOT bloomline_${engine}_LIBRARY)
        return()
      endif()
      set(target ${bloomline_${engine}_LIBRARY})
    endif()

    add_library(bloomline_${engine} STATIC EXCLUDE_FROM_ALL ${source})
    add_library(bloomline::${engine} ALIAS bloomline_${engine})
    # RocksDB's headers are C++17, from 10.7 on C++20; a compiler without C++20 takes what it has.
    set_target_properties(bloomline_${engine} PROPERTIES
      POSITION_INDEPENDENT_CODE ON C_STANDARD 11 CXX_STANDARD 20 CXX_STANDARD_REQUIRED OFF)
    target_include_directories(bloomline_${engine} PUBLIC ${include} ${bloomline_${engine}_INCLUDE})
    if(bloomline_USE_STATIC_LIBS OR NOT TARGET bloomline::bloomline)
      target_link_libraries(bloomline_${engine} PUBLIC bloomline::static ${target})
    else()
      target_link_libraries(bloomline_${engine} PUBLIC bloomline::bloomline ${target})
    endif()
  endif()
  set(bloomline_${engine}_FOUND TRUE PARENT_SCOPE)
endfunction()
