/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * parquet_cpp.cc - what Parquet C++ says of the filters in a file: the reader that comes in pyarrow's wheel, which
 * has no call for it in Python. engines.py compiles it.
 *
 *     parquet_cpp FILE COLUMN KEY...
 *
 * prints for each key the row groups that the filters of a column do not exclude. Keys stand for the values that
 * engines.py has for them.
 */
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/types.h>

static bool may_contain(const parquet::BloomFilter &filter, parquet::Type::type type, int64_t key)
{
    const int64_t number = key * 7919 - 1000000;
    switch (type) {
    case parquet::Type::INT64: return filter.FindHash(filter.Hash(number));
    case parquet::Type::INT32: return filter.FindHash(filter.Hash(static_cast<int32_t>(number)));
    case parquet::Type::DOUBLE: return filter.FindHash(filter.Hash(static_cast<double>(number) / 8));
    case parquet::Type::FLOAT: return filter.FindHash(filter.Hash(static_cast<float>(number) / 8));
    case parquet::Type::BYTE_ARRAY: {
        const std::string text = "s" + std::to_string(number);
        const parquet::ByteArray bytes(text);
        return filter.FindHash(filter.Hash(&bytes));
    }
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: {
        uint8_t bytes[16]; /* of an integer of 128 bits, the highest first */
        for (int i = 0; i < 16; i++)
            bytes[15 - i] = static_cast<uint8_t>(number >> (i < 8 ? 8 * i : 63));
        const parquet::FLBA fixed(bytes);
        return filter.FindHash(filter.Hash(&fixed, 16));
    }
    default: std::cerr << "no values of type " << type << "\n"; std::exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const auto reader = parquet::ParquetFileReader::OpenFile(argv[1]);
    const auto metadata = reader->metadata();
    const int column = metadata->schema()->ColumnIndex(argv[2]);
    if (column < 0)
        return 2;
    std::vector<std::unique_ptr<parquet::BloomFilter>> filters;
    for (int group = 0; group < metadata->num_row_groups(); group++) {
        const auto of_group = reader->GetBloomFilterReader().RowGroup(group);
        filters.push_back(of_group ? of_group->GetColumnBloomFilter(column) : nullptr);
    }
    const auto type = metadata->schema()->Column(column)->physical_type();
    for (int i = 3; i < argc; i++) {
        for (size_t group = 0; group < filters.size(); group++)
            if (!filters[group] || may_contain(*filters[group], type, std::atoll(argv[i])))
                std::cout << group << " ";
        std::cout << "\n";
    }
    return 0;
}
