// SPDX-License-Identifier: MIT OR Apache-2.0
//
// header_cxx17.cpp - bloomline.h and bloomline.hpp are C++17, in any order, each alone
// and twice; functions have C linkage. Compiled only, with every warning there is.
#include <bloomline_inline.h>
#include <bloomline.hpp>
#include <bloomline.h>
#include <bloomline_inline.h>
#include <bloomline.hpp>

#include <type_traits>

static_assert(sizeof(bloomline_params) == 24 && std::is_trivially_copyable_v<bloomline_params>);
static_assert(sizeof(bloomline_view) == 64 && std::is_trivially_copyable_v<bloomline_view>);
static_assert(std::is_same_v<bloomline_status, std::int32_t>);
static_assert(std::is_same_v<decltype(BLOOMLINE_OK), decltype(BLOOMLINE_ERR_NULL)> || BLOOMLINE_OK == 0);

// Would not compile if they had C++ linkage in the header.
extern "C" std::uint32_t bloomline_abi_version(void);
extern "C" bool bloomline_filter_contains_hash(const bloomline_filter *, std::uint64_t);

static_assert(!std::is_copy_constructible_v<bloomline::Filter> && std::is_nothrow_move_constructible_v<bloomline::Filter>);
static_assert(std::is_trivially_copyable_v<bloomline::View>);
