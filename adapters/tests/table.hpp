/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * table.hpp - cuts a meta block, such as the filters, out of a table file of LevelDB or
 * RocksDB, by the file alone: footer, metaindex block, block. The blocks read here must be
 * uncompressed. Uses the C++ library.
 */
#ifndef BLOOMLINE_TABLE_HPP
#define BLOOMLINE_TABLE_HPP

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace table {

struct Handle {
    uint64_t offset = 0, size = 0;
};

inline std::string ReadFile(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

inline uint32_t Fixed32(const char *p)
{
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--)
        value = value << 8 | static_cast<unsigned char>(p[i]);
    return value;
}

/* A varint at `at`, which goes on behind it. */
inline uint64_t Varint(const std::string &bytes, size_t &at)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
        uint64_t byte = static_cast<unsigned char>(bytes[at++]);
        value |= (byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return value;
}

inline Handle ReadHandle(const std::string &bytes, size_t &at)
{
    Handle handle;
    handle.offset = Varint(bytes, at);
    handle.size = Varint(bytes, at);
    return handle;
}

/* Where the meta block of that name is. */
inline std::optional<Handle> FindMetaBlock(const std::string &file, size_t footer_len,
                                           size_t handles_at, const std::string &name)
{
    if (file.size() < footer_len)
        return {};
    size_t at = file.size() - footer_len + handles_at;
    Handle index = ReadHandle(file, at);
    if (index.offset + index.size > file.size() || index.size < 4)
        return {};
    std::string block = file.substr(index.offset, index.size);
    size_t end = block.size() - 4 - 4 * size_t{Fixed32(&block[block.size() - 4])};
    std::string key;
    for (size_t entry = 0; entry < end && end < block.size();) {
        size_t shared = Varint(block, entry), unshared = Varint(block, entry);
        size_t value = Varint(block, entry);
        key = key.substr(0, shared) + block.substr(entry, unshared);
        entry += unshared;
        size_t handle_at = entry;
        if (key == name) {
            Handle handle = ReadHandle(block, handle_at);
            if (handle.offset + handle.size > file.size())
                return {};
            return handle;
        }
        entry += value;
    }
    return {};
}

/* What is there, if there is something. */
inline std::optional<std::string> BlockAt(const std::string &file, const std::optional<Handle> &handle)
{
    if (!handle)
        return {};
    return file.substr(handle->offset, handle->size);
}

/* RocksDB, format_version 1 to 5: checksum type, two handles, padding, version, magic. `kind`
 * is "full", or "partitioned": that is an index of partitions. */
inline std::optional<Handle> FindRocksDbFilter(const std::string &file, const std::string &kind)
{
    return FindMetaBlock(file, 53, 1, kind + "filter.rocksdb.BuiltinBloomFilter");
}

inline std::optional<std::string> RocksDbFilter(const std::string &path)
{
    std::string file = ReadFile(path);
    return BlockAt(file, FindRocksDbFilter(file, "full"));
}

/* What a table of RocksDB has up to the end of its filters: the data, and these. Behind them are
 * its index, and properties that say when and by whom it was made. */
struct UpToFilters {
    std::string bytes;
    /* 0 if there is one filter for the table. */
    size_t partitions = 0;
};

inline std::optional<UpToFilters> RocksDbUpToFilters(const std::string &path)
{
    UpToFilters table;
    table.bytes = ReadFile(path);
    std::optional<Handle> full = FindRocksDbFilter(table.bytes, "full");
    std::optional<Handle> index = FindRocksDbFilter(table.bytes, "partitioned");
    if (full.has_value() == index.has_value())
        return {};
    const Handle &last = full ? *full : *index;
    table.bytes.resize(last.offset + last.size);
    /* An index ends with the number of its entries: each is one where reading can start. */
    if (index && index->size >= 4)
        table.partitions = Fixed32(&table.bytes[table.bytes.size() - 4]);
    return table;
}

/* LevelDB: the filters of a table, empty ones included. */
inline std::vector<std::string> LevelDbFilters(const std::string &path)
{
    std::vector<std::string> filters;
    std::string file = ReadFile(path);
    std::optional<std::string> block =
        BlockAt(file, FindMetaBlock(file, 48, 0, "filter.leveldb.BuiltinBloomFilter2"));
    if (!block || block->size() < 5)
        return filters;
    size_t array = Fixed32(&(*block)[block->size() - 5]);
    for (size_t at = array; at + 4 <= block->size() - 5 && array <= block->size(); at += 4) {
        /* Behind the last offset is that of the array, where the last filter ends. */
        size_t from = Fixed32(&(*block)[at]), to = Fixed32(&(*block)[at + 4]);
        filters.push_back(block->substr(from, to - from));
    }
    return filters;
}

}  // namespace table

#endif
