/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * arrow.cc - the filters of Arrow's query engine, Acero, and of Parquet C++, from the wheel of pyarrow, behind
 * functions for arrow.rs. Their memory is malloc()'s, as that of all: what pages that is in, pages.rs says.
 */
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <arrow/acero/bloom_filter.h>
#include <arrow/memory_pool.h>
#include <arrow/util/config.h>
#include <arrow/util/cpu_info.h>
#include <parquet/bloom_filter.h>

namespace {

void Check(const arrow::Status &status)
{
    if (!status.ok())
        std::abort();
}

}  // namespace

struct Acero {
    arrow::acero::BlockedBloomFilter filter;
    std::unique_ptr<arrow::acero::BloomFilterBuilder> builder;
    int64_t flags = arrow::internal::CpuInfo::GetInstance()->hardware_flags();
};

struct Parquet {
    parquet::BlockSplitBloomFilter filter{arrow::system_memory_pool()};
};

extern "C" {

const char *lab_arrow_version() { return ARROW_VERSION_STRING; }

/* For so many keys, in so many batches. */
Acero *lab_acero_new(uint64_t keys, uint64_t batches)
{
    using namespace arrow::acero;
    Acero *acero = new Acero;
    acero->builder = BloomFilterBuilder::Make(BloomFilterBuildStrategy::SINGLE_THREADED);
    Check(acero->builder->Begin(1, acero->flags, arrow::system_memory_pool(),
                                static_cast<int64_t>(keys), static_cast<int64_t>(batches), &acero->filter));
    return acero;
}

void lab_acero_free(Acero *acero) { delete acero; }
size_t lab_acero_bytes(const Acero *acero) { return sizeof(uint64_t) << acero->filter.log_num_blocks(); }

void lab_acero_insert(Acero *acero, const uint64_t *hashes, size_t n)
{
    Check(acero->builder->PushNextBatch(0, static_cast<int64_t>(n), hashes));
}

/* A bit for each hash, the first in the lowest of a byte. */
void lab_acero_find(const Acero *acero, const uint64_t *hashes, size_t n, uint8_t *bits)
{
    acero->filter.Find(acero->flags, static_cast<int64_t>(n), hashes, bits);
}

/* Of so many bytes, a power of two; NULL if that is more than it can have. */
Parquet *lab_parquet_new(size_t bytes)
{
    if (bytes > parquet::BlockSplitBloomFilter::kMaximumBloomFilterBytes)
        return nullptr;
    Parquet *parquet = new Parquet;
    parquet->filter.Init(static_cast<uint32_t>(bytes));
    return parquet;
}

void lab_parquet_free(Parquet *parquet) { delete parquet; }
size_t lab_parquet_bytes(const Parquet *parquet) { return parquet->filter.GetBitsetSize(); }

/* `hashes` is room for n of them. */
void lab_parquet_insert(Parquet *parquet, const int64_t *values, size_t n, uint64_t *hashes)
{
    parquet->filter.Hashes(values, static_cast<int>(n), hashes);
    parquet->filter.InsertHashes(hashes, static_cast<int>(n));
}

/* Writes the numbers of those that may be present, without a branch on the answers. */
size_t lab_parquet_select(const Parquet *parquet, const int64_t *values, size_t n, uint64_t *hashes, uint32_t *rows)
{
    parquet->filter.Hashes(values, static_cast<int>(n), hashes);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        rows[count] = static_cast<uint32_t>(i);
        count += parquet->filter.FindHash(hashes[i]);
    }
    return count;
}
}
