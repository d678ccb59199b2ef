// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_golden.cpp DIRECTORY - the golden files of plain and of classic filters, read through
// bloomline.hpp: those that are accepted, with their probes, and the statuses of the others.
#include <bloomline.hpp>

#include "golden.h"

#include <string>
#include <vector>

namespace {

std::string path_of(const golden_files &files) { return golden_path(files.part, files.name, "").text; }

void accepted(golden_files &files)
{
    REQUIRE(files.count == 4);
    const std::vector<std::uint8_t> data(files.data, files.data + files.len);
    const auto view = bloomline::View::open(data);
    const auto filter = bloomline::Filter::decode(data);
    const auto loaded = bloomline::Filter::load(path_of(files));
    REQUIRE(view && filter && loaded);
    const auto params = filter->params();
    REQUIRE(params);
    CHECK_U64(files.numbers[0], params->line_count);
    CHECK_U64(files.numbers[1], params->k);
    CHECK_U64(files.numbers[2], params->seed);
    CHECK_U64(files.numbers[3], filter->key_count());
    const auto again = loaded->encode();
    REQUIRE(again);
    CHECK(*again == data);
    std::uint64_t hash = 0, expected = 0;
    while (golden_probe(&files, &hash, &expected)) {
        CHECK(view->contains_hash(hash) == (expected == 1));
        CHECK(filter->contains_hash(hash) == (expected == 1));
    }
}

void rejected(const golden_files &files)
{
    const std::vector<std::uint8_t> data(files.data, files.data + files.len);
    const auto status = static_cast<unsigned>(files.status);
    CHECK_U64(status, bloomline::View::open(data).status().code());
    CHECK_U64(status, bloomline::Filter::decode(data).status().code());
    CHECK_U64(status, bloomline::Filter::load(path_of(files)).status().code());
}

void read_all(const char *part)
{
    golden_files files;
    golden_files_open(&files, part);
    while (golden_next(&files)) files.status == BLOOMLINE_OK ? accepted(files) : rejected(files);
    golden_files_end(&files, 1, 1);
}

void plain() { read_all(""); }
void classic() { read_all("classic/"); }

}  // namespace

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_hpp_golden");
    RUN(plain);
    RUN(classic);
    return check_end();
}
