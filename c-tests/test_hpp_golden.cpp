// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_golden.cpp DIRECTORY - the golden files of plain and of classic filters, read through
// bloomline.hpp: those that are accepted, with their probes, and the statuses of the others.
#include <bloomline.hpp>

#include "check.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace {

std::string directory;

std::vector<std::uint8_t> bytes_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The key of a hash, 0 or 1: whether the filter has it.
void probes(const std::string &path, const bloomline::View &view, const bloomline::Filter &filter)
{
    std::ifstream file(path + ".probes");
    std::uint64_t hash = 0;
    int expected = 0;
    std::size_t count = 0;
    for (; file >> std::hex >> hash >> expected; count++) {
        CHECK(view.contains_hash(hash) == (expected == 1));
        CHECK(filter.contains_hash(hash) == (expected == 1));
    }
    CHECK(file.eof() && count > 0);
}

void accepted(const std::string &path, std::istream &fields)
{
    std::uint64_t line_count = 0, seed = 0, key_count = 0;
    std::uint32_t k = 0;
    fields >> line_count >> k >> seed >> key_count;
    REQUIRE(!fields.fail());
    const auto data = bytes_of(path);
    const auto view = bloomline::View::open(data);
    const auto filter = bloomline::Filter::decode(data);
    const auto loaded = bloomline::Filter::load(path);
    REQUIRE(view && filter && loaded);
    const auto params = filter->params();
    REQUIRE(params);
    CHECK_U64(line_count, params->line_count);
    CHECK_U64(k, params->k);
    CHECK_U64(seed, params->seed);
    CHECK_U64(key_count, filter->key_count());
    const auto again = loaded->encode();
    REQUIRE(again);
    CHECK(*again == data);
    probes(path, *view, *filter);
}

void rejected(const std::string &path, std::istream &fields)
{
    unsigned status = 0;
    fields >> status;
    REQUIRE(!fields.fail());
    const auto data = bytes_of(path);
    CHECK_U64(status, bloomline::View::open(data).status().code());
    CHECK_U64(status, bloomline::Filter::decode(data).status().code());
    CHECK_U64(status, bloomline::Filter::load(path).status().code());
}

void read_all(const std::string &kind)
{
    std::ifstream manifest(directory + kind + "/MANIFEST");
    std::size_t counts[2] = {};
    for (std::string line; std::getline(manifest, line);) {
        std::istringstream fields(line);
        std::string verdict, name;
        fields >> verdict >> name;
        const std::string path = directory + kind + "/" + name;
        const bool good = verdict == "accepted";
        REQUIRE(good || verdict == "rejected");
        good ? accepted(path, fields) : rejected(path, fields);
        counts[good ? 0 : 1]++;
    }
    CHECK(counts[0] > 0 && counts[1] > 0);
    std::printf("    %zu accepted, %zu rejected\n", counts[0], counts[1]);
}

void plain() { read_all(""); }
void classic() { read_all("/classic"); }

}  // namespace

int main(int count, char **arguments)
{
    REQUIRE(count == 2);
    directory = arguments[1];
    check_begin("test_hpp_golden");
    RUN(plain);
    RUN(classic);
    return check_end();
}
