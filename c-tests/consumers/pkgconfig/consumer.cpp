// SPDX-License-Identifier: MIT OR Apache-2.0
// consumer.cpp - a program outside of the project that uses the installed library from C++.
#include <bloomline.hpp>

#include <cstdio>

int main()
{
    auto params = bloomline::params_for_rate(1000, 0.01);
    auto filter = params ? bloomline::Filter::create(*params) : bloomline::Result<bloomline::Filter>(params.status());
    if (!filter) {
        std::fprintf(stderr, "%s\n", filter.message());
        return 1;
    }
    filter->insert("apple");
    bool right = bloomline::abi_matches() && filter->contains("apple") && !filter->contains("plum");
    std::printf("C++ consumer of bloomline %s: %s\n", bloomline::version(), right ? "right" : "WRONG");
    return !right;
}
