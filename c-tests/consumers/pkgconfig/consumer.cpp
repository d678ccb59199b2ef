// SPDX-License-Identifier: MIT OR Apache-2.0
// consumer.cpp - a program outside of the project that uses the installed library from C++.
#include <bloomline.hpp>

#include <cstdio>

int main()
{
    auto filter = bloomline::Filter::create(bloomline::params_for_rate(1000, 0.01));
    if (!filter) {
        std::fprintf(stderr, "%s\n", filter.message());
        return 1;
    }
    filter->insert(bloomline::text("apple"));
    bool right = bloomline::abi_matches() && filter->contains(bloomline::text("apple")) && !filter->contains(bloomline::text("plum"));
    std::printf("C++ consumer of bloomline %s: %s\n", bloomline::version(), right ? "right" : "WRONG");
    return !right;
}
