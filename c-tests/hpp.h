// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hpp.h - what the tests of bloomline.hpp share: a filter to begin with, names of files.
#ifndef HPP_H
#define HPP_H

#include <bloomline_inline.h>
#include <bloomline.hpp>

#include "check.h"
#include "probes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <unistd.h>

using namespace bloomline;
using namespace std::literals;

// For so many keys at 1 %, with seed 7.
static inline Filter make_filter(std::uint64_t keys = 1000)
{
    auto filter = Filter::create(params_for_rate(keys, 0.01, 7));
    REQUIRE(filter);
    return *std::move(filter);
}

static inline std::string file_name(const char *what)
{
    const char *directory = std::getenv("TMPDIR");
    return std::string(directory != nullptr ? directory : "/tmp") + "/bloomline-test-hpp-" + what + "-" +
           std::to_string(getpid());
}

static inline std::vector<std::string> some_strings(std::size_t count)
{
    std::vector<std::string> strings;
    for (std::size_t i = 0; i < count; i++) strings.push_back("key " + std::to_string(i));
    return strings;
}

#endif // HPP_H
